import { describe, expect, it } from 'vitest';
import type { ResultOf } from '../../../src/contracts/results.js';
import { NOTE_TYPES, type NoteType } from '../../../src/contracts/session-meta-events.js';
import type { Note } from '../../../src/memory/facts/fact-types.js';
import {
  demandsOf,
  dueProposals,
  MAX_WAITING,
  MAX_WAITING_OF_SESSION,
  noteProposals,
  rulesPaused,
  sessionsPaused,
} from '../../../src/memory/learnings/harvest.js';
import { timeOf } from '../../support/builders.js';
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

const note = (content: string, type: NoteType = 'learning', id = 'NOT-1'): Note => ({
  id,
  content,
  type,
  iteration: 1,
  created_at: timeOf(1),
  updated_at: timeOf(1),
});
const review = (more: Partial<ResultOf<'reviewer'>>) =>
  demandsOf(PROJECT, { task_id: '1', assessment: 'needs_changes', ...more });
const fix = (...required_fixes: string[]) => review({ required_fixes });

describe('notes', () => {
  it.each([
    ['learning', 'insight'],
    ['tip', 'pattern'],
    ['decision', 'pattern'],
  ] as const)('notes of the type %s are proposed as %s, with where they stand', (type, as) => {
    expect(noteProposals(folded(), 's1', [note('Name  the\nfield', type)])).toEqual([
      {
        type: 'proposed',
        data: {
          proposal: idOf('Name the field'),
          type: as,
          content: 'Name the field',
          tags: [type],
          confidence: 0.5,
          method: 'note',
          source: { session: 's1', note: 'NOT-1' },
          evidence: [],
        },
      },
    ]);
  });

  it('notes of every other type are not proposed', () => {
    const others = NOTE_TYPES.filter((type) => !['learning', 'tip', 'decision'].includes(type));
    expect(others).toContain('stuck');
    expect(
      noteProposals(
        folded(),
        's1',
        others.map((type) => note('Name it', type)),
      ),
    ).toEqual([]);
  });

  it('notes that say nothing, or the same, are proposed no more than once', () => {
    const notes = [note('\u200b\n'), note('Name it'), note('name it!', 'tip', 'NOT-2')];
    expect(noteProposals(folded(), 's1', notes)).toMatchObject([{ data: { source: { note: 'NOT-1' } } }]);
  });

  const ofNote = (content: string, source = { session: 's1', note: 'NOT-1' }) =>
    proposed(content, { method: 'note', source });

  it('a pending proposal is rejected once its note says something else, or is gone', () => {
    const given = folded(ofNote('We use pnpm'));
    expect(noteProposals(given, 's1', [note('We use pnpm', 'tip')])).toEqual([]);
    expect(noteProposals(given, 's1', [note('We use yarn')])).toMatchObject([
      { type: 'rejected', data: { proposal: idOf('We use pnpm'), by: 'throughline' } },
      { type: 'proposed', data: { content: 'We use yarn' } },
    ]);
    expect(noteProposals(given, 's1', [])).toMatchObject([{ type: 'rejected' }]);
    expect(noteProposals(given, 's1', [note('We use pnpm', 'stuck')])).toMatchObject([{ type: 'rejected' }]);
  });

  it.each([
    ['of another session', [ofNote('We use pnpm', { session: 's2', note: 'NOT-1' })]],
    ['by hand', [proposed('We use pnpm', { source: { session: 's1', note: 'NOT-1' } })]],
    ['that was accepted', [ofNote('We use pnpm'), accepted('We use pnpm')]],
  ])('a proposal %s stays, whatever the notes say', (_which, events) => {
    expect(noteProposals(folded(...events), 's1', [])).toEqual([]);
  });

  it('a note that comes back proposes again what was rejected without it, and not what a person rejected', () => {
    const given = folded(ofNote('We use pnpm'));
    const [gone = expect.fail()] = noteProposals(given, 's1', []);
    const [again = expect.fail(), ...others] = noteProposals(folded(ofNote('We use pnpm'), gone), 's2', [
      note('We use pnpm'),
    ]);
    expect(others).toEqual([]);
    expect(folded(ofNote('We use pnpm'), gone, again).proposals.get(idOf('We use pnpm'))).toMatchObject({
      status: 'pending',
      source: { session: 's2' },
    });
    const person = { ...gone, data: { ...gone.data, by: 'ann' } } as typeof gone;
    expect(noteProposals(folded(ofNote('We use pnpm'), person), 's2', [note('We use pnpm')])).toEqual([]);
  });
});

describe('the demands of a review', () => {
  it('the demands of a review are its required fixes and its issues, conventions among them', () => {
    const demands = review({
      // A command that failed teaches nothing.
      required_fixes: ['Name the field in src/a.ts:3', 'Make the check "npm test" pass'],
      issues: [
        { severity: 'minor', message: 'The case 3 is missing' },
        { severity: 'minor', message: 'Always close the file' },
      ],
    });
    expect(demands.map(({ kind, text }) => [kind, text])).toEqual([
      ['fix', 'Name the field in src/a.ts:3'],
      ['issue', 'The case 3 is missing'],
      ['convention', 'Always close the file'],
    ]);
  });
});

describe('a demand that comes again', () => {
  const said = (n: number) => fix(`Name the field in src/f${n}.ts:${n}`);
  const [{ id } = expect.fail()] = said(1);
  const due = (...events: Parameters<typeof folded>) => dueProposals(folded(...events), [id], 2);

  it.each([
    ['in another task', { task: '2' }],
    ['in another session', { session: 's2' }],
  ])(
    'a demand that comes again %s is proposed, as it was worded first, with its evidence',
    (_where, where) => {
      const [one, more] = due(observed(3, said(1)), observed(5, said(2), where));
      expect(more).toBeUndefined();
      expect(one?.data).toEqual({
        proposal: id,
        type: 'pattern',
        content: 'Name the field in src/f1.ts:1',
        tags: ['fix'],
        method: 'recurring_fix',
        confidence: 0.67,
        source: { session: 's1', dispatch: 3 },
        evidence: [
          { session: 's1', dispatch: 3, task: '1' },
          { session: 's1', dispatch: 5, task: '1', ...where },
        ],
      });
    },
  );

  it.each([
    ['issue', 'recurring_issue', 'The field is missing'],
    ['convention', 'convention', 'Always name the field'],
  ] as const)('a repeated %s is proposed by the method %s', (kind, method, message) => {
    const demands = review({ issues: [{ severity: 'minor', message }] });
    const state = folded(observed(3, demands), observed(5, demands, { task: '2' }));
    const proposals = dueProposals(
      state,
      demands.map((demand) => demand.id),
      2,
    );
    expect(proposals).toMatchObject([{ data: { method, tags: [kind], content: message } }]);
  });

  it('a demand is surer the more tasks it comes in, and never certain', () => {
    const sure = Array.from({ length: 30 }, (_, tasks) => {
      const events = Array.from({ length: tasks + 2 }, (_, n) => observed(n + 1, said(1), { task: `${n}` }));
      return due(...events)[0]?.data.confidence ?? 0;
    });
    expect(sure.slice(0, 3)).toEqual([0.67, 0.75, 0.8]);
    expect(sure).toEqual(sure.toSorted((a, b) => a - b));
    expect(Math.max(...sure)).toBeLessThan(1);
  });
});

describe('while many proposals of rules wait', () => {
  const waiting = (count: number, method: 'note' | 'manual' = 'note') =>
    Array.from({ length: count }, (_, n) => proposed(`Wait for ${method} ${n}`, { method }));
  const notes = ['One', 'Two', 'Three'].map((text, n) => note(text, 'tip', `NOT-${n}`));
  const demands = fix('Name the field', 'Close the file', 'Free the lock');
  const ids = demands.map(({ id }) => id);
  const recurring = [observed(3, demands), observed(5, demands, { task: '2' })];

  it.each([
    [MAX_WAITING - 2, 2],
    [MAX_WAITING, 0],
    [MAX_WAITING + 5, 0],
  ])('rules make proposals while few wait: beside %i, rules make %i more', (count, more) => {
    const state = folded(...waiting(count), ...recurring);
    expect(noteProposals(state, 's1', notes)).toHaveLength(more);
    expect(dueProposals(state, ids, 2)).toHaveLength(more);
    expect(rulesPaused(state)).toBe(more === 0);
  });

  it('a decision makes room for rules, and what was demanded meanwhile has kept its evidence', () => {
    const rejected = { type: 'rejected', data: { proposal: idOf('Wait for note 0'), by: 'ann' } } as const;
    const state = folded(...waiting(MAX_WAITING), ...recurring, rejected);
    expect(dueProposals(state, ids, 2)).toMatchObject([{ data: { proposal: ids[0], evidence: [{}, {}] } }]);
    expect(noteProposals(state, 's1', notes)).toHaveLength(1);
  });
});

describe('while many proposals of one session wait', () => {
  const many = Array.from({ length: MAX_WAITING * 2 }, (_, n) => note(`Note ${n}`, 'tip', `NOT-${n}`));
  const crowd = noteProposals(folded(), 'crowd', many);
  const demand = fix('Name the field');
  const ids = demand.map(({ id }) => id);
  const inSessions = (...sessions: string[]) =>
    sessions.map((session, n) => observed(n + 1, demand, { session, task: String(n) }));

  it('a session gets no more places for proposals than its share, and the rest are left to others', () => {
    expect(crowd).toHaveLength(MAX_WAITING_OF_SESSION);
    const state = folded(...crowd);
    expect(noteProposals(state, 'crowd', many)).toEqual([]);
    expect(sessionsPaused(state)).toEqual(['crowd']);
    expect(rulesPaused(state)).toBe(false);
    const others = Array.from({ length: 4 }, (_, n) => noteProposals(state, `other-${n}`, [note(`Of ${n}`)]));
    expect(others.map((made) => made.length)).toEqual([1, 1, 1, 1]);
  });

  it('a demand of a session without places is proposed as that of another session that demanded it too', () => {
    const source = (...sessions: string[]) =>
      dueProposals(folded(...crowd, ...inSessions(...sessions)), ids, 2).map(({ data }) => data.source);
    expect(source('crowd', 'crowd')).toEqual([]);
    expect(source('crowd', 'fair')).toEqual([{ session: 'fair', dispatch: 2 }]);
    expect(source('fair', 'crowd')).toEqual([{ session: 'fair', dispatch: 1 }]);
  });

  it('a decision makes room for a proposal of the same session', () => {
    const [first = expect.fail()] = crowd;
    const rejected = { type: 'rejected', data: { proposal: first.data.proposal, by: 'ann' } } as const;
    const state = folded(...crowd, rejected);
    expect(sessionsPaused(state)).toEqual([]);
    expect(noteProposals(state, 'crowd', many)).toHaveLength(1);
  });
});

describe('in whatever order, and however often, reviews arrive', () => {
  const words = [
    'Name it',
    'Name it in src/a.ts',
    'name it!',
    'Never name it',
    'Close it in b.ts:3',
    'Always close it',
  ];
  const reviews = fc.array(
    fc.record({
      session: fc.constantFrom('s1', 's2'),
      task: fc.integer({ min: 1, max: 15 }).map(String),
      fixes: fc.subarray(words),
      issues: fc.subarray(words),
    }),
    { minLength: 1, maxLength: 60 },
  );
  const arrivals = reviews
    .map((all) =>
      all.map(({ session, task, fixes, issues }, index) => {
        const messages = issues.map((message) => ({ severity: 'minor' as const, message }));
        return observed(index + 1, review({ required_fixes: fixes, issues: messages }), { session, task });
      }),
    )
    .chain((clean) =>
      fc
        .array(fc.integer({ min: 0, max: clean.length - 1 }), { maxLength: 30 })
        .map((copies) => [...clean, ...copies.flatMap((index) => clean[index] ?? [])])
        .chain((events) => fc.shuffledSubarray(events, { minLength: events.length }))
        .map((arrived) => ({ clean, arrived })),
    );

  it('a project remembers the same demands, words and evidence in whatever order, and however often, reviews arrive', () => {
    fc.assert(
      fc.property(arrivals, ({ clean, arrived }) => {
        const [one, other] = [folded(...clean), folded(...arrived)];
        expect(other.observations).toEqual(one.observations);
        const ids = [...one.observations.keys()];
        expect(dueProposals(other, ids, 2)).toEqual(dueProposals(one, ids, 2));
      }),
      { numRuns: 200 },
    );
  });

  it('a proposal and a learning get the same evidence in whatever order, and however often, reviews arrive', () => {
    const given = words.flatMap((text, index) => {
      const [{ id: proposal } = expect.fail()] = fix(text);
      const made = proposed(text, { proposal, method: 'recurring_fix', confidence: 0.5 });
      return index % 2 === 0 ? [made] : [made, { type: 'accepted', data: { proposal, by: 'ann' } } as const];
    });
    fc.assert(
      fc.property(arrivals, ({ clean, arrived }) => {
        const [one, other] = [folded(...given, ...clean), folded(...given, ...arrived)];
        expect(other.proposals).toEqual(one.proposals);
        expect(other.active).toEqual(one.active);
      }),
    );
  });

  it('a project keeps the newest demands when there are too many', () => {
    const many = Array.from({ length: 2100 }, (_, n) =>
      observed(n + 1, fix(`Demand ${n.toString(36)}x of words`), { task: `${n}` }),
    );
    const one = folded(...many);
    expect(one.observations.size).toBe(2000);
    expect(
      Math.min(...[...one.observations.values()].map(({ evidence }) => evidence[0]?.dispatch ?? 0)),
    ).toBe(101);
    const twice = foldedFrom([...storedEvents(many), ...storedEvents(many.toReversed())]);
    expect(twice.observations).toEqual(one.observations);
    expect(JSON.parse(bytesOf(twice)).state.observations).toEqual(
      JSON.parse(bytesOf(one)).state.observations,
    );
  });
});
