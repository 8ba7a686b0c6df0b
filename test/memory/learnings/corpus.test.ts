import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  LEARNING_EVENTS,
  learningEvent,
  PROPOSAL_STATUSES,
  type StoredLearningEvent,
} from '../../../src/contracts/learning-events.js';
import { evolveLearnings } from '../../../src/memory/learnings/evolve-learnings.js';
import { decodeLearnings, encodeLearnings } from '../../../src/memory/learnings/learnings-snapshot.js';
import {
  demandId,
  emptyLearnings,
  type LearningState,
  learningId,
} from '../../../src/memory/learnings/learnings-state.js';

/**
 * Learnings as each version stores them, made by `scripts/freeze-corpus.mjs`. What a released version has frozen must always
 * load: what a later version adds to a state may stand beside what is expected here, but nothing may be missing or changed.
 */
const CORPUS = new URL('../../fixtures/learnings/', import.meta.url);
const VERSIONS = readdirSync(CORPUS).sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));

function frozen(version: string) {
  const text = (name: string) => readFileSync(new URL(`${version}/${name}`, CORPUS), 'utf8');
  const lines = text('events.jsonl').trimEnd().split('\n');
  return { lines, snapshot: text('snapshot.json'), expected: JSON.parse(text('expected-state.json')) };
}

function eventsOf(version: string): StoredLearningEvent[] {
  return frozen(version).lines.map((line, index) => {
    const event = LEARNING_EVENTS.parse(JSON.parse(line));
    if (event === undefined) throw new Error(`${version}, event ${index + 1} is not read any more: ${line}`);
    return { sequence: index + 1, event };
  });
}

function decoded(text: string): LearningState {
  const read = decodeLearnings('frozen', text);
  if (!read.ok) throw new Error(`the snapshot is not read any more: ${read.reason}`);
  return read.state;
}

const bytes = (state: LearningState) => encodeLearnings(state, '2026-06-01T00:00:00.000Z');

function replayed(version: string): LearningState {
  const state = emptyLearnings('frozen');
  for (const stored of eventsOf(version)) evolveLearnings(state, stored);
  return state;
}

describe.each(VERSIONS)('the frozen learnings of %s', (version) => {
  it('frozen learnings are read event by event, each as it was written', () => {
    const { lines } = frozen(version);
    expect(eventsOf(version).map(({ event }) => event)).toMatchObject(lines.map((line) => JSON.parse(line)));
  });

  it('frozen learnings have the ids that their texts have today', () => {
    for (const { event } of eventsOf(version)) {
      if (event.type === 'proposed' && event.data.method !== 'recurring_fix')
        expect(learningId('frozen', event.data.content)).toBe(event.data.proposal);
      if (event.type !== 'observed') continue;
      for (const { id, text } of event.data.demands) expect(demandId('frozen', text)).toBe(id);
    }
  });

  it('frozen learnings fold to what they folded to then', () => {
    expect(JSON.parse(bytes(replayed(version))).state).toMatchObject(frozen(version).expected);
  });

  it('frozen learnings load from their snapshot and the events after it, byte for byte as from all events', () => {
    const state = decoded(frozen(version).snapshot);
    const events = eventsOf(version);
    expect(state.sequence).toBeGreaterThan(0);
    expect(state.sequence).toBeLessThan(events.length);
    for (const stored of events.slice(state.sequence)) evolveLearnings(state, stored);
    expect(bytes(state)).toBe(bytes(replayed(version)));
    expect(state).toEqual(replayed(version));
  });
});

describe('the newest frozen learnings', () => {
  const version = VERSIONS.at(-1) ?? '';

  it('the newest frozen learnings hold every type of event that there is', () => {
    const all = learningEvent.options.map((option) => option.shape.type.value);
    expect(all).toHaveLength(6);
    // What a checkpoint carries is a snapshot, of which there is one here.
    const types = all.filter((type) => type !== 'checkpoint');
    expect(new Set(eventsOf(version).map(({ event }) => event.type))).toEqual(new Set(types));
  });

  it('the newest frozen learnings have each status and a merge in their snapshot', () => {
    const { proposals, active, observations } = decoded(frozen(version).snapshot);
    const all = [...proposals.values()];
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(PROPOSAL_STATUSES));
    expect(all.some(({ mergedInto }) => mergedInto !== undefined)).toBe(true);
    expect(active.size).toBeGreaterThan(1);
    expect(observations.size).toBeGreaterThan(2);
  });
});
