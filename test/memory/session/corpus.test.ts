import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SESSION_EVENTS, type StoredEvent, sessionEvent } from '../../../src/contracts/session-events.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { encodeSnapshot, stateToJson } from '../../../src/memory/session/session-snapshot.js';
import {
  emptyState,
  type SessionLimits,
  type SessionState,
} from '../../../src/memory/session/session-state.js';
import { restored } from '../../support/snapshots.js';

/**
 * A session as each version stores it, made by `scripts/freeze-corpus.mjs`. What a released version has frozen must always
 * load: what a later version adds to a state may stand beside what is expected here, but nothing may be missing or changed.
 */
const CORPUS = new URL('../../fixtures/sessions/', import.meta.url);
const VERSIONS = readdirSync(CORPUS)
  .filter((name) => /^\d/.test(name))
  .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
const SNAPSHOT_TIME = '2026-06-01T00:00:00.000Z';

function frozen(version: string) {
  const text = (name: string) => readFileSync(new URL(`${version}/${name}`, CORPUS), 'utf8');
  const lines = text('events.jsonl').trimEnd().split('\n');
  const expected: { readonly sequence: number; readonly limits: SessionLimits } = JSON.parse(
    text('expected-state.json'),
  );
  return { lines, snapshot: text('snapshot.json'), expected };
}

function eventsOf(version: string): StoredEvent[] {
  return frozen(version).lines.map((line, index) => {
    const event = SESSION_EVENTS.parse(JSON.parse(line));
    if (event === undefined) throw new Error(`${version}, event ${index + 1} is not read any more: ${line}`);
    return { sequence: index + 1, event };
  });
}

const decoded = (text: string) => restored(text, 'frozen');
const bytes = (state: SessionState) => encodeSnapshot(state, SNAPSHOT_TIME);
const allOf = (state: SessionState) => ({ sequence: state.sequence, ...stateToJson(state) });

/** The fold of a whole version, under the limits that it was frozen with. */
function replayed(version: string): SessionState {
  return eventsOf(version).reduce(evolve, emptyState('frozen', frozen(version).expected.limits));
}

describe.each(VERSIONS)('the frozen session of %s', (version) => {
  it('each event of a frozen session is read as it was written', () => {
    const { lines } = frozen(version);
    expect(eventsOf(version).map(({ event }) => event)).toMatchObject(lines.map((line) => JSON.parse(line)));
  });

  it('a frozen session folds to what it folded to then', () => {
    expect(allOf(replayed(version))).toMatchObject(frozen(version).expected);
  });

  it('a frozen session loads from its snapshot and the events after it, byte for byte as from all events', () => {
    const state = decoded(frozen(version).snapshot);
    expect(state.sequence).toBeGreaterThan(0);
    expect(state.sequence).toBeLessThan(frozen(version).expected.sequence);
    for (const stored of eventsOf(version).slice(state.sequence)) evolve(state, stored);
    expect(bytes(state)).toBe(bytes(replayed(version)));
  });
});

describe('the newest frozen session', () => {
  const version = VERSIONS.at(-1) ?? '';

  it('the newest frozen session holds every type of event that there is', () => {
    const types = sessionEvent.options.map((option) => option.shape.type.value);
    expect(types.length).toBeGreaterThan(20);
    expect(new Set(eventsOf(version).map(({ event }) => event.type))).toEqual(new Set(types));
  });

  it('the newest frozen session has something in every part of its snapshot', () => {
    const { state } = JSON.parse(frozen(version).snapshot);
    const empty = Object.entries(state).filter(([, value]) => JSON.stringify(value).length <= 2);
    expect(empty).toEqual([]);
    expect(new Set(Object.keys(state))).toEqual(new Set(Object.keys(stateToJson(replayed(version)))));
    expect(state.window.recent.length).toBeGreaterThan(0);
    expect(state.window.counted.steps.length).toBeGreaterThan(0);
  });
});
