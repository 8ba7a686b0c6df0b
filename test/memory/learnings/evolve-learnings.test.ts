import { describe, expect, it } from 'vitest';
import { withEvidence } from '../../../src/memory/learnings/harvest.js';
import { viewOf } from '../../../src/memory/learnings/learnings-state.js';
import { timeOf } from '../../support/builders.js';
import {
  accepted,
  bytesOf,
  folded,
  foldedFrom,
  idOf,
  observed,
  proposed,
  storedEvents,
} from '../../support/learning-project.js';

const TEXT = 'Name the field';
const OTHER = 'Close the file';
const id = idOf(TEXT);
const rejected = { type: 'rejected', data: { proposal: id, by: 'bob', reason: 'no' } } as const;
const retracted = { type: 'retracted', data: { learning: id, by: 'bob', reason: 'old' } } as const;
const demand = { id, kind: 'fix', text: TEXT } as const;
const source = { session: 's1', note: 'NOT-1' };

describe('a proposal', () => {
  it('a proposal becomes a learning once it is accepted, and stays on record with who and when', () => {
    const state = folded(proposed(TEXT, { confidence: 0.8, source }), accepted(TEXT, 'ann'));
    expect([...state.active.values()]).toEqual([
      {
        id,
        type: 'insight',
        content: TEXT,
        tags: [],
        source,
        evidence: [],
        confidence: 0.8,
        extractedAt: timeOf(60),
        confirmedAt: timeOf(120),
      },
    ]);
    expect(state.proposals.get(id)).toMatchObject({
      status: 'accepted',
      decidedBy: 'ann',
      decidedAt: timeOf(120),
    });
  });

  it.each([
    ['pending', [proposed(TEXT)]],
    ['in force', [proposed(TEXT), accepted(TEXT)]],
  ])('a proposal changes nothing when it is made again while %s', (_state, given) => {
    const again = proposed(TEXT, { tags: ['later'], method: 'note' });
    expect(folded(...given, again).proposals).toEqual(folded(...given).proposals);
  });

  it.each([
    ['rejected', [proposed(TEXT), rejected]],
    ['retracted', [proposed(TEXT), accepted(TEXT), retracted]],
  ])('a proposal that was %s is opened again by a person, and by no rule', (_state, given) => {
    const before = folded(...given);
    for (const method of ['note', 'recurring_fix', 'recurring_issue', 'convention'] as const) {
      const state = folded(...given, proposed(TEXT, { method }));
      expect(state.proposals).toEqual(before.proposals);
      expect(state.active).toEqual(before.active);
    }
    const state = folded(...given, proposed(TEXT, { tags: ['again'] }));
    expect(viewOf(state).pending).toMatchObject([{ id, status: 'pending', tags: ['again'] }]);
    expect(state.proposals.get(id)).not.toHaveProperty('decidedBy');
    expect(state.active.has(id)).toBe(false);
    const once = folded(...given, proposed(TEXT), accepted(TEXT, 'cleo'));
    expect(once.active.get(id)).toMatchObject({ id, content: TEXT });
  });

  it('a proposal stands last of those that wait when it is opened again; the newest is shown first', () => {
    const state = folded(proposed(TEXT), proposed(OTHER), rejected, proposed(TEXT));
    expect(viewOf(state).pending.map(({ content }) => content)).toEqual([TEXT, OTHER]);
  });
});

describe('a merge', () => {
  const evidence = [{ session: 's2', dispatch: 9, task: '4' }];
  const merged = { type: 'accepted', data: { proposal: idOf(OTHER), by: 'bob', merged_into: id } } as const;
  const given = [
    proposed(TEXT, { evidence: [{ session: 's1', dispatch: 3, task: '1' }] }),
    accepted(TEXT),
    proposed(OTHER, { evidence, method: 'recurring_fix' }),
  ];

  it('a merge lets what reviews demand later in the words of one count for the other', () => {
    const demands = [{ id: idOf(OTHER), kind: 'fix', text: OTHER } as const];
    const state = folded(...given, merged, observed(20, demands, { session: 's3', task: '7' }));
    expect(state.active.get(id)?.evidence.map(({ dispatch }) => dispatch)).toEqual([3, 9, 20]);
  });
});

describe('what reviews demand', () => {
  it('a review’s demand makes a proposal surer while it waits, and leaves one of a person as sure as it was', () => {
    const later = [observed(3, [demand]), observed(5, [demand], { task: '2' })];
    const rule = folded(proposed(TEXT, { method: 'recurring_fix', confidence: 0.5 }), ...later);
    expect(rule.proposals.get(id)).toMatchObject({ confidence: 0.67 });
    const person = folded(proposed(TEXT, { confidence: 0.1 }), ...later);
    expect(person.proposals.get(id)).toMatchObject({ confidence: 0.1 });
    expect(person.proposals.get(id)?.evidence).toHaveLength(2);
  });

  it('a review’s demand counts for a learning, and not for what was turned down', () => {
    const later = observed(5, [demand]);
    const held = folded(proposed(TEXT, { method: 'recurring_fix', confidence: 0.5 }), accepted(TEXT), later);
    expect(held.active.get(id)).toMatchObject({ confidence: 0.5, evidence: [{ dispatch: 5 }] });
    const turnedDown = folded(proposed(TEXT), rejected, later);
    expect(turnedDown.proposals).toEqual(folded(proposed(TEXT), rejected).proposals);
  });
});

describe('an event that comes twice', () => {
  const events = storedEvents([
    proposed(TEXT, { method: 'recurring_fix' }),
    observed(3, [demand]),
    accepted(TEXT),
    proposed(OTHER),
    { type: 'accepted', data: { proposal: idOf(OTHER), by: 'x', merged_into: id } },
    observed(8, [demand], { task: '2' }),
    retracted,
    proposed(TEXT),
    rejected,
  ]);

  it('a repeated event changes nothing right after the first one', () => {
    expect(bytesOf(foldedFrom(events.flatMap((stored) => [stored, stored])))).toBe(
      bytesOf(foldedFrom(events)),
    );
  });
});

describe('evidence', () => {
  const at = (dispatch: number, task = String(dispatch)) => ({ session: 's', dispatch, task });
  const sequences = (evidence: readonly { dispatch: number }[]) => evidence.map(({ dispatch }) => dispatch);

  it('evidence is one dispatch for each task, the newest', () => {
    expect(withEvidence([at(3, 'a'), at(4, 'b')], [at(9, 'a'), at(1, 'b')])).toEqual([
      at(4, 'b'),
      at(9, 'a'),
    ]);
  });

  it('evidence is bounded to the newest twenty', () => {
    const all = Array.from({ length: 30 }, (_, index) => at(index + 1));
    expect(sequences(withEvidence(all.slice(0, 15), all.slice(15)))).toEqual(sequences(all.slice(10)));
    expect(sequences(withEvidence(all.slice(15), all.slice(0, 15)))).toEqual(sequences(all.slice(10)));
  });
});
