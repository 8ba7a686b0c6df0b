import { describe, expect, test } from 'vitest';
import type { Unstamped } from '../../../src/contracts/event.js';
import type { LearningEvent } from '../../../src/contracts/learning-events.js';
import { evolveLearnings } from '../../../src/memory/learnings/evolve-learnings.js';
import {
  encodeLearnings,
  learningsCheckpoint,
  withoutSession,
  withoutText,
} from '../../../src/memory/learnings/learnings-snapshot.js';
import {
  emptyLearnings,
  type LearningState,
  learningOf,
} from '../../../src/memory/learnings/learnings-state.js';
import { overwriting } from '../../../src/memory/session/erased-state.js';
import { proposal } from '../../support/learnings.js';
import * as fc from '../../support/properties.js';
import { histories } from './histories.js';

const AT = '2026-01-01T00:00:00.000Z';
const KEEP = { withLearnings: false };

function withEntries(...entries: ReturnType<typeof proposal>[]): LearningState {
  const state = emptyLearnings('demo');
  for (const each of entries) state.proposals.set(each.id, each);
  return state;
}
const from = (session: string, dispatch = 1) => ({ session, dispatch, task: `t${dispatch}` });

describe('forgetting a session in learnings', () => {
  test('removes a proposal that rests on it alone, and keeps one that another session speaks for as well', () => {
    const alone = proposal({ id: 'aaaaaaaaaaaa', source: { session: 'gone', note: 'NOT-1' } });
    const shared = proposal({
      id: 'bbbbbbbbbbbb',
      method: 'recurring_fix',
      source: { session: 'gone', dispatch: 1 },
      evidence: [from('gone'), from('other', 2), from('other', 3)],
      confidence: 0.75,
    });

    const { state, changed } = withoutSession(withEntries(alone, shared), 'gone', KEEP);

    expect([...state.proposals.keys()]).toEqual(['bbbbbbbbbbbb']);
    const left = state.proposals.get('bbbbbbbbbbbb');
    expect(left).toMatchObject({
      source: {},
      evidence: [from('other', 2), from('other', 3)],
      confidence: 0.67,
    });
    expect(changed).toBe(2);
  });

  test('keeps an accepted learning, without what names the session, unless learnings are to go as well', () => {
    const source = { session: 'gone', note: 'NOT-1' };
    const record = proposal({ status: 'accepted', source });
    const state = withEntries(record);
    const accepted = learningOf(record);
    state.active.set(accepted.id, accepted);

    const kept = withoutSession(state, 'gone', KEEP);
    const removed = withoutSession(state, 'gone', { withLearnings: true });

    expect(kept.state.active.get(accepted.id)).toEqual({ ...accepted, source: {} });
    expect(kept.changed).toBe(1);
    expect(removed.state.active.size).toBe(0);
    expect(removed.changed).toBe(1);
  });

  test('forgets what its reviews demanded, and leaves other sessions alone', () => {
    const state = emptyLearnings('demo');
    const observed = { kind: 'fix', text: 'close it', first: 1 } as const;
    state.observations.set('cccccccccccc', { ...observed, evidence: [from('gone')] });
    state.observations.set('dddddddddddd', { ...observed, evidence: [from('gone'), from('other', 2)] });

    const { state: rest } = withoutSession(state, 'gone', KEEP);

    expect([...rest.observations]).toEqual([['dddddddddddd', { ...observed, evidence: [from('other', 2)] }]]);
    expect(withoutSession(rest, 'gone', KEEP).changed).toBe(0);
  });
});

test('what repeats an erased text is rejected, retracted once it was accepted, and all else stays', () => {
  const said = proposal({ id: 'aaaaaaaaaaaa', content: 'Remember: use MAGPIE' });
  const learned = proposal({ id: 'bbbbbbbbbbbb', content: 'use MAGPIE', status: 'accepted' });
  const other = proposal({ id: 'cccccccccccc', content: 'use tabs' });
  const state = withEntries(said, learned, other);
  state.active.set(learned.id, learningOf(learned));
  const decision = { decidedAt: AT, decidedBy: 'ann' };

  const rest = withoutText(state, overwriting('use MAGPIE', 'erased'), decision);

  expect([...rest.proposals.values()]).toEqual([
    { ...said, ...decision, content: 'Remember: erased', status: 'rejected' },
    { ...learned, ...decision, content: 'erased', status: 'retracted' },
    other,
  ]);
  expect(rest.active.size).toBe(0);
});

test('a checkpoint folds into the state that it carries, whatever was folded before, and no word of the session is left', () => {
  fc.assert(
    fc.property(histories(40), histories(20), (before, others) => {
      const { state: rest } = withoutSession(folded(before), 's1', { withLearnings: true });
      const data = learningsCheckpoint(rest);
      const sequence = 1000;
      const checkpoint = { sequence, event: { v: 1, type: 'checkpoint', at: AT, data } as LearningEvent };

      const fresh = emptyLearnings('demo');
      evolveLearnings(fresh, checkpoint);
      const late = folded(others);
      evolveLearnings(late, checkpoint);

      const carried = shown(rest);
      expect(shown(fresh)).toEqual(carried);
      expect(shown(late)).toEqual(carried);
      expect(JSON.stringify(carried)).not.toContain('"s1"');
    }),
  );
});

function folded(events: readonly Unstamped<LearningEvent>[]): LearningState {
  const state = emptyLearnings('demo');
  for (const [index, { type, data }] of events.entries()) {
    const event = { v: 1, type, at: AT, data } as LearningEvent;
    evolveLearnings(state, { sequence: index + 1, event });
  }
  return state;
}

function shown(state: LearningState): object {
  const { proposals, active, observations } = JSON.parse(encodeLearnings(state, AT)).state;
  return { proposals, active, observations };
}
