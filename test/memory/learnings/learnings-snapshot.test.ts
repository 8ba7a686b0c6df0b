import { describe, expect, it } from 'vitest';
import type { StoredLearningEvent } from '../../../src/contracts/learning-events.js';
import { decideLearning } from '../../../src/memory/learnings/decide-learning.js';
import { evolveLearnings } from '../../../src/memory/learnings/evolve-learnings.js';
import { decodeLearnings, encodeLearnings } from '../../../src/memory/learnings/learnings-snapshot.js';
import { emptyLearnings, type LearningState } from '../../../src/memory/learnings/learnings-state.js';
import {
  accepted,
  bytesOf,
  folded,
  foldedFrom,
  idOf,
  observed,
  PROJECT,
  proposed,
  storedEvents,
} from '../../support/learning-project.js';
import * as fc from '../../support/properties.js';
import { histories } from './histories.js';

const NOW = '2026-02-01T00:00:00.000Z';

function restored(text: string): LearningState {
  const decoded = decodeLearnings(PROJECT, text);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.state;
}

function said(state: LearningState): unknown {
  const decisions = [
    decideLearning('learning.list', state, { limit: 100 }),
    decideLearning('proposal.list', state, { status: 'all', projects: false, limit: 100 }),
    ...[...state.proposals.keys()].map((id) => decideLearning('proposal.show', state, { id })),
  ];
  return decisions.map((decision) => decision.kind === 'answer' && decision.reply(state));
}

/** Folds the events, and at every cut checks that its snapshot with the tail gives what the whole log gives. */
function expectEveryCutToAgree(events: readonly StoredLearningEvent[]): void {
  const whole = foldedFrom(events);
  const state = emptyLearnings(PROJECT);
  for (let cut = 0; cut <= events.length; cut += 1) {
    const loaded = restored(bytesOf(state));
    expect(loaded).toEqual(state);
    expect(bytesOf(loaded)).toBe(bytesOf(state));
    for (const event of events.slice(cut)) evolveLearnings(loaded, event);
    expect(bytesOf(loaded)).toBe(bytesOf(whole));
    expect(said(loaded)).toEqual(said(whole));
    for (const event of events.slice(cut, cut + 1)) evolveLearnings(state, event);
  }
}

describe('snapshot and tail', () => {
  it('snapshot and tail of learnings are the full replay at every cut, byte for byte', () => {
    fc.assert(
      fc.property(histories(30), (history) => expectEveryCutToAgree(storedEvents(history))),
      { numRuns: 60 },
    );
  });

  it('the test histories of snapshot and tail hold events that change something', () => {
    const seen = { pending: 0, accepted: 0, rejected: 0, retracted: 0, merged: 0 };
    for (const history of fc.sample(histories(30), { numRuns: 500, seed: 1 })) {
      for (const { status, mergedInto } of folded(...history).proposals.values()) {
        seen[status] += 1;
        if (mergedInto !== undefined) seen.merged += 1;
      }
    }
    const rare = Object.entries(seen).filter(([, count]) => count < 20);
    expect(rare).toEqual([]);
  });
});

const EVENTS = [
  proposed('Name it', { tags: ['api'], confidence: 0.5, source: { session: 's1', note: 'NOT-1' } }),
  accepted('Name it'),
  observed(3, [{ id: idOf('Close it'), kind: 'fix', text: 'Line one\u2028"two"' }]),
];

describe('the text of a snapshot', () => {
  const text = encodeLearnings(folded(...EVENTS), NOW);

  it('the text of a snapshot is one line of after_sequence, created_at, project, v and state, in that order', () => {
    expect(Object.keys(JSON.parse(text))).toEqual(['after_sequence', 'created_at', 'project', 'v', 'state']);
    expect(
      text.startsWith(`{"after_sequence":3,"created_at":"${NOW}","project":"${PROJECT}","v":1,"state":{`),
    ).toBe(true);
    expect(text).not.toMatch(/[\n\r]/);
  });

  it('the text of a snapshot says nothing twice: a learning that says what was proposed is not written again', () => {
    expect(text.split('Name it')).toHaveLength(2);
  });

  it('the text of a snapshot is refused for any other project', () => {
    expect(decodeLearnings('elsewhere', text)).toMatchObject({ ok: false });
  });
});

describe('a snapshot that cannot be used', () => {
  const whole = encodeLearnings(folded(...EVENTS), NOW);
  const changed = (change: (parsed: Record<string, unknown>) => object) =>
    JSON.stringify(change(JSON.parse(whole)));
  const inState = (more: object) =>
    changed((parsed) => ({ ...parsed, state: { ...Object(parsed.state), ...more } }));

  it.each([
    ['of a later version', changed((parsed) => ({ ...parsed, v: 2 })), 'v: '],
    ['without a state', changed(({ state: _, ...parsed }) => parsed), 'state: '],
    [
      'with the state of a session',
      changed((parsed) => ({ ...parsed, state: { facts: [] } })),
      'state.last_event_at: ',
    ],
    ['with an unknown status', whole.replace('"accepted"', '"liked"'), 'state.proposals.0.status: '],
    ['with an unknown type', whole.replace('"insight"', '"gossip"'), 'state.proposals.0.type: '],
    ['with an id that is none', whole.replaceAll(idOf('Name it'), 'x'), 'state.proposals.0.id: '],
    ['with an unknown kind', whole.replace('"fix"', '"wish"'), 'state.observations.0.kind: '],
    ['with a learning that is not there', inState({ active: ['0123456789ab'] }), 'state.active.0: '],
  ])('a snapshot that cannot be used is refused with the reason: %s', (_what, text, reason) => {
    expect(text).not.toBe(whole);
    expect(decodeLearnings(PROJECT, text)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});
