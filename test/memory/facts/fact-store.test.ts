import { describe, expect, it } from 'vitest';
import type { RoleResult } from '../../../src/contracts/results.js';
import { InMemorySessionFactStore } from '../../../src/memory/facts/fact-store.js';
import type { SessionFact } from '../../../src/memory/facts/fact-types.js';
import {
  fact,
  factsFrom,
  implementer,
  observer,
  reviewer,
  roleResults,
  sayings,
  timeOf,
} from '../../support/builders.js';
import * as fc from '../../support/properties.js';

function storeOf(...dispatches: readonly (readonly SessionFact[])[]): InMemorySessionFactStore {
  const store = new InMemorySessionFactStore();
  for (const facts of dispatches) store.add(facts);
  return store;
}

const valid = (store: InMemorySessionFactStore) => sayings(store.getValid());
const closedFrom = (store: InMemorySessionFactStore, sequence: number) =>
  store.all().filter((held) => held.sourceSequence === sequence && held.validTo !== undefined);

/** Dispatches in their order, and their facts as they arrive: in any order, each up to three times. */
const arrivals = fc
  .array(fc.tuple(roleResults, fc.array(fc.nat(1000), { minLength: 1, maxLength: 3 })), { maxLength: 15 })
  .map((entries) => {
    const dispatches = entries.map(([returned], index) => factsFrom(index + 1, returned));
    const shuffled = entries
      .flatMap(([, keys], index) => keys.map((key) => ({ key, facts: dispatches[index] ?? [] })))
      .sort((a, b) => a.key - b.key)
      .map(({ facts }) => facts);
    return { results: entries.map(([returned]) => returned), dispatches, shuffled };
  });

describe('between dispatches', () => {
  const first = fact({ sourceSequence: 1, object: 'task:1' });
  const second = fact({ sourceSequence: 2, object: 'task:2' });
  const third = fact({ sourceSequence: 3, object: 'task:3' });

  it('between dispatches the newest fact of a subject and relation wins, at its own time', () => {
    const store = storeOf([first], [second]);
    expect(store.getValid()).toEqual([second]);
    expect(store.all()).toEqual([{ ...first, validTo: timeOf(2), closedBy: 2 }, second]);
    expect(store.count()).toBe(1);
    expect(store.size()).toBe(2);
  });

  it('each fact is closed by the next one, in any order of arrival', () => {
    expect(storeOf([third], [first], [second]).all()).toEqual([
      { ...first, validTo: timeOf(2), closedBy: 2 },
      { ...second, validTo: timeOf(3), closedBy: 3 },
      third,
    ]);
  });

  it.each([
    ['another subject', fact({ sourceSequence: 2, subject: 'src/b.ts' })],
    ['another relation', fact({ sourceSequence: 2, relation: 'issue' })],
  ])('a fact of %s closes nothing', (_what, other) => {
    expect(storeOf([first], [other]).getValid()).toEqual([first, other]);
  });

  it('a fact that was handed in is never changed', () => {
    const given = Object.freeze(fact({ sourceSequence: 1 }));
    storeOf([given], [second]);
    expect(given).toEqual(first);
  });
});

describe('within one dispatch', () => {
  it('failures of one test run stay side by side until the next run', () => {
    const failed = implementer({ tests: [{ command: 't', passed: false, failures: ['a', 'b'] }] });
    const passed = implementer({ task_id: '2', tests: [{ command: 't', passed: true }] });
    const store = storeOf(factsFrom(1, failed));
    expect(valid(store).filter((saying) => saying.startsWith('test:'))).toHaveLength(2);
    store.add(factsFrom(2, passed));
    expect(valid(store).filter((saying) => saying.startsWith('test:'))).toEqual([
      'test:t test_result passed in task:2',
    ]);
  });
});

describe('a blocker', () => {
  const stuck = factsFrom(
    1,
    implementer({ status: 'blocked', blockers: ['need a key from ops', 'no host'] }),
  );
  const open = (...dispatches: readonly (readonly SessionFact[])[]) =>
    valid(storeOf(...dispatches)).filter((saying) => saying.includes('blocked_by'));
  const both = ['task:1 blocked_by need a key from ops', 'task:1 blocked_by no host'];

  it.each([
    [
      'the work of another task',
      implementer({ task_id: '2', blockers: ['no time'] }),
      ['task:2 blocked_by no time'],
    ],
    ['a review that sends it back', reviewer({ required_fixes: ['x'] }), []],
    ['a note', observer(), []],
  ])('a blocker is not closed by %s', (_what, returned, more) => {
    const later = factsFrom(2, returned);
    expect([open(stuck, later), open(later, stuck)]).toEqual([
      [...both, ...more],
      [...both, ...more],
    ]);
  });
});

describe('what observers say of their task', () => {
  const turn = (at: number, summary: string, more: object = {}) =>
    factsFrom(at, observer({ task_id: '1', summary, ...more }));
  const decided = (object: string) => ({ subject: 'task:1', relation: 'decided', object });
  const first = turn(1, 'made it private', {
    follow_up_actions: ['publish it'],
    facts: [decided('node:test'), { subject: 'task:1', relation: 'asks', object: 'a semicolon?' }],
  });

  it('what an observer left open is closed by a result of the work as well, and by no review but an approval', () => {
    const open = (...dispatches: readonly (readonly SessionFact[])[]) =>
      valid(storeOf(...dispatches)).filter((saying) => /asks|requires/.test(saying));
    const work = factsFrom(2, implementer());
    const review = factsFrom(2, reviewer({ required_fixes: ['x'] }));
    const approval = factsFrom(2, reviewer({ assessment: 'approved' }));
    const question = ['task:1 asks a semicolon?'];
    expect([open(first, work), open(work, first), open(first, approval)]).toEqual([question, question, []]);
    expect(open(first, review)).toHaveLength(2);
    expect(open(review, first)).toHaveLength(2);
  });
});

describe('a result from before the session', () => {
  const past = (sequence: number, returned: ReturnType<typeof reviewer> | ReturnType<typeof implementer>) =>
    factsFrom(sequence, { ...returned, result: { ...returned.result, history: true } } as RoleResult);

  it('a result from before the session is closed by what comes later', () => {
    const store = storeOf(
      past(1, reviewer({ required_fixes: ['close it'] })),
      past(2, reviewer({ assessment: 'approved' })),
    );
    expect(valid(store)).toEqual(['task:1 reviewed_as approved']);
    store.add(factsFrom(3, reviewer({ required_fixes: ['again'] })));
    expect(valid(store)).toEqual(['task:1 reviewed_as needs_changes', 'task:1 must_fix again']);
  });
});

describe('an approval', () => {
  const issue = (file: string) => ({ severity: 'minor' as const, file, message: 'always close it' });
  const findings = (task_id: string, file: string) =>
    reviewer({ task_id, required_fixes: ['fix it'], issues: [issue(file)] });
  const approval = reviewer({ task_id: '1', assessment: 'approved' });
  const of1 = factsFrom(1, findings('1', 'src/a.ts'));
  const of2 = factsFrom(2, findings('2', 'src/b.ts'));
  const approved = factsFrom(3, approval);

  it('an approval closes must_fix and issue of its own task, and nothing else', () => {
    const store = storeOf(approved, of2, of1);
    expect(valid(store)).toEqual([
      'task:1 convention always close it',
      'task:2 reviewed_as needs_changes',
      'src/b.ts issue always close it',
      'task:2 must_fix fix it',
      'task:2 convention always close it',
      'task:1 reviewed_as approved',
    ]);
    expect(closedFrom(store, 1).map((held) => [held.relation, held.validTo, held.closedBy])).toEqual([
      ['reviewed_as', timeOf(3), 3],
      ['issue', timeOf(3), 3],
      ['must_fix', timeOf(3), 3],
    ]);
  });

  it('an approval leaves nothing open: what it found itself is closed at once, but for conventions and suggestions', () => {
    const withIssue = factsFrom(
      4,
      reviewer({ assessment: 'approved', issues: [issue('src/c.ts')], required_fixes: ['x'] }),
    );
    const later = factsFrom(5, reviewer({ required_fixes: ['once more'] }));
    expect(valid(storeOf(of1, withIssue))).toEqual([
      'task:1 reviewed_as approved',
      'task:1 convention always close it',
      'task:1 suggested x',
    ]);
    for (const store of [
      storeOf(of1, withIssue),
      storeOf(withIssue, of1),
      storeOf([...withIssue].reverse()),
    ]) {
      expect(closedFrom(store, 4).map((held) => [held.relation, held.validTo, held.closedBy])).toEqual(
        expect.arrayContaining([
          ['issue', timeOf(4), 4],
          ['must_fix', timeOf(4), 4],
        ]),
      );
    }
    for (const store of [storeOf(withIssue, later), storeOf(later, withIssue)]) {
      expect(valid(store)).toEqual([
        'task:1 convention always close it',
        'task:1 reviewed_as needs_changes',
        'task:1 must_fix once more',
      ]);
    }
  });
});

describe('findings', () => {
  const issue = (message: string, file = 'src/a.ts') => ({ severity: 'critical' as const, file, message });
  const review = (task_id: string, ...messages: string[]) =>
    reviewer({ task_id, issues: messages.map((message) => issue(message)) });
  const openOf = (store: InMemorySessionFactStore, relation = 'issue') =>
    sayings(store.getValid().filter((held) => held.relation === relation));

  it('a finding is not closed by a result that only claims to be a review', () => {
    const found = factsFrom(1, review('1', 'leaks'));
    const claimed = fact({
      subject: 'task:1',
      relation: 'reviewed_as',
      object: 'approved',
      sourceSequence: 2,
    });
    expect(openOf(storeOf(found, [claimed]))).toEqual(['src/a.ts issue leaks']);
  });

  it('the newest review of a task alone decides which findings of it are open, in any order of any dispatches', () => {
    fc.assert(
      fc.property(arrivals, ({ results, dispatches, shuffled }) => {
        const store = storeOf(...shuffled);
        // A task that was approved last has none.
        const newest = new Map(
          results.flatMap(({ role, result }, index) =>
            role === 'reviewer'
              ? [[result.task_id, result.assessment === 'approved' ? undefined : index + 1] as const]
              : [],
          ),
        );
        const isFinding = (held: SessionFact) => held.relation === 'issue' || held.relation === 'must_fix';
        expect(store.getValid().filter(isFinding)).toEqual(
          dispatches
            .flat()
            .filter((said) => isFinding(said) && newest.get(said.sourceTaskId) === said.sourceSequence),
        );
      }),
    );
  });
});

describe('invalidate', () => {
  it('invalidate closes the older facts of a subject and relation', () => {
    const store = storeOf([fact({ sourceSequence: 1 })], [fact({ sourceSequence: 5, subject: 'src/b.ts' })]);
    const newer = fact({ sourceSequence: 9 });
    store.invalidate('src/a.ts', 'modified_by', { sequence: 7, at: timeOf(7) });
    store.invalidate('src/b.ts', 'issue', { sequence: 7, at: timeOf(7) });
    store.invalidate('src/unknown.ts', 'modified_by', { sequence: 7, at: timeOf(7) });
    store.add([newer]);
    expect(store.all().map((held) => held.closedBy)).toEqual([7, undefined, undefined]);
    expect(store.count()).toBe(2);
  });
});

describe('asking', () => {
  it('asking by tags gives the valid facts that carry one of them', () => {
    const store = storeOf(
      [
        fact({ sourceSequence: 1, tags: ['test', 'error'] }),
        fact({ sourceSequence: 1, subject: 'b', tags: ['decision'] }),
      ],
      [fact({ sourceSequence: 2, tags: ['dependency'] })],
    );
    expect(store.getValidByTags(['error'])).toEqual([]);
    expect(store.getValidByTags([])).toEqual([]);
    expect(sayings(store.getValidByTags(['decision', 'dependency', 'test']))).toEqual([
      'b modified_by task:1',
      'src/a.ts modified_by task:1',
    ]);
  });
});

describe('in any order and any number of times', () => {
  it('the same dispatches leave the same facts in any order and any number of times', () => {
    fc.assert(
      fc.property(arrivals, ({ dispatches, shuffled }) => {
        const clean = storeOf(...dispatches);
        const store = storeOf(...shuffled);
        expect(store.all()).toEqual(clean.all());
        expect(store.count()).toBe(store.getValid().length);
        expect(InMemorySessionFactStore.of(store.all()).all()).toEqual(store.all());
      }),
    );
  });
});

/** Decisions on branches, some of which end with them. */
const onBranches = fc
  .array(fc.tuple(fc.constantFrom('main', 'x', 'y'), fc.constantFrom('x', 'y', ''), fc.nat(1000)))
  .map((decided) =>
    decided.map(([branch, ended, key], at) => {
      const facts = [
        { subject: 'db', relation: 'decided', object: `${at}`, ref: `M${at}` },
        { subject: `task:${at}`, relation: 'on_branch', object: branch },
        { subject: `branch:${ended}`, relation: 'branch_ended', object: 'merged' },
      ];
      return {
        key,
        facts: facts.map((each) => fact({ sourceSequence: at, sourceTaskId: `${at}`, ...each })),
      };
    }),
  );

it('what branches decide is the same in any order, and from a snapshot', () => {
  fc.assert(
    fc.property(onBranches, fc.nat(20), (dispatches, cut) => {
      const facts = dispatches.map((each) => each.facts);
      const shuffled = dispatches.toSorted((a, b) => a.key - b.key).map((each) => each.facts);
      const all = storeOf(...facts).all();
      expect(storeOf(...shuffled).all()).toEqual(all);
      const restored = InMemorySessionFactStore.of(storeOf(...facts.slice(0, cut)).all());
      for (const each of facts.slice(cut)) restored.add(each);
      expect(restored.all()).toEqual(all);
    }),
  );
});

describe('retracted facts', () => {
  const by = { by: 'anna', at: timeOf(9), reason: 'Never agreed' };
  const port = fact({ sourceSequence: 2, subject: 'metrics', relation: 'listen_on', object: '9090' });
  const again = fact({ ...port, sourceSequence: 4 });
  const other = fact({ ...port, sourceSequence: 3, object: '9464' });
  const right = fact({ ...port, object: '9464' });

  it('a retracted fact stays closed, however often its text is stated, before or after', () => {
    const early = new InMemorySessionFactStore();
    early.retract(port, by);
    early.add([again]);
    early.add([port]);
    const late = storeOf([port], [again]);
    late.retract(port, by);
    for (const store of [early, late, InMemorySessionFactStore.of(late.all())]) {
      expect(store.getValid()).toEqual([]);
      expect(store.count()).toBe(0);
      expect(store.index().text.size).toBe(0);
      expect(store.all().map(({ retracted }) => retracted)).toEqual([by, by]);
      store.add([fact({ ...port, sourceSequence: 7 })]);
      expect(store.getValid()).toEqual([]);
    }
  });

  it('words that a person retracted come back in no other task, as a copy or said again, until restored', () => {
    const said = (at: number, more: Partial<SessionFact> = {}) =>
      fact({
        sourceSequence: at,
        sourceTaskId: `${at}`,
        subject: `task:${at}`,
        ref: `M${at}`,
        relation: 'decided',
        object: 'use mysql',
        ...more,
      });
    const store = storeOf([said(1)], [said(2, { origin: 'user' })]);
    store.retract(said(2), by);
    store.add([said(3)]);
    expect(store.getValid()).toEqual([]);
    store.restore(said(2), { ...by, after: 3 });
    expect(store.getValid()).toHaveLength(3);
  });

  it('a correction takes the place of the fact: a newer statement closes it, an older one does not', () => {
    for (const arrivals of [[port, other], [other, port], [port], []]) {
      const store = storeOf(...arrivals.map((each) => [each]));
      store.retract(port, by, { ...right, corrects: 'x' });
      const newest = arrivals.includes(other) ? other : { ...right, corrects: 'x' };
      expect(store.getValid()).toEqual([newest]);
    }
  });

  it('a correction holds, however often what it corrected is stated, before or after', () => {
    const statement = (at: number, more: Partial<SessionFact> = {}) =>
      fact({ ...port, relation: 'decided', sourceSequence: at, ref: `M${at}`, ...more });
    const corrected = statement(2, { ref: 'M2v2', object: '9464', corrects: statement(2).id });
    for (const [before, after] of [
      [[2, 3], []],
      [[2], [3, 4]],
      [[2, 3], [4]],
    ] as const) {
      const store = storeOf(...before.map((at) => [statement(at)]));
      store.retract(statement(2), { ...by, agent: true }, corrected);
      for (const at of after) store.add([statement(at)]);
      expect(store.getValid().map(({ ref }) => ref)).toEqual(['M2v2']);
    }
  });

  it('a correction that was made twice ends each time that the first text is restored', () => {
    const store = storeOf([port]);
    const again = { ...by, after: port.sourceSequence };
    for (const _ of [1, 2]) {
      store.retract(port, again, { ...right, corrects: port.id });
      expect(store.getValid().map(({ object }) => object)).toEqual([right.object]);
      store.restore(port, again);
      expect(store.getValid().map(({ object }) => object)).toEqual([port.object]);
    }
  });

  it('compaction drops other facts before the text of a retracted one', () => {
    const store = storeOf([port], factsFrom(5, implementer({ files_modified: ['a.ts', 'b.ts'] })));
    store.retract(port, by);
    store.compact(1);
    expect(store.all()).toMatchObject([{ object: '9090', retracted: by }]);
  });
});
