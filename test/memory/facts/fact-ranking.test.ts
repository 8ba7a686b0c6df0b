import { describe, expect, it } from 'vitest';
import { type RankingQuery, rankFacts } from '../../../src/memory/facts/fact-ranking.js';
import { InMemorySessionFactStore } from '../../../src/memory/facts/fact-store.js';
import type { FactRanking, SessionFact } from '../../../src/memory/facts/fact-types.js';
import { factsFrom, implementer, reviewer, roleResults, sayings } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

function asked(overrides: Partial<RankingQuery> = {}): RankingQuery {
  return {
    text: 'check the bounds',
    taskId: '99',
    maxFacts: 10,
    files: [],
    similar: new Map(),
    ...overrides,
  };
}

function storeOf(...dispatches: readonly (readonly SessionFact[])[]): InMemorySessionFactStore {
  const store = new InMemorySessionFactStore();
  for (const facts of dispatches) store.add(facts);
  return store;
}

const said = (task_id: string, summary: string, ...files_modified: string[]) =>
  implementer({ task_id, summary, files_modified });
/** Summaries of tasks that have nothing to do with anything: what is rare shows among many. */
const OTHERS = Array.from({ length: 60 }, (_, n) =>
  factsFrom(100 + n, said(`other-${n}`, `polish screen ${n}`)),
);
const shown = (store: InMemorySessionFactStore, overrides: Partial<RankingQuery>) => {
  const { chosen, rest } = rankFacts(store, asked(overrides));
  return sayings([...chosen, ...rest].map((each) => each.fact));
};

describe('what has to do with a task', () => {
  it('a fact is found by other forms of its words', () => {
    const store = storeOf(
      factsFrom(1, reviewer({ required_fixes: ['escape names in the parser'] })),
      ...OTHERS,
    );
    for (const text of ['escaping of each name', 'parsers escape twice'])
      expect(shown(store, { text })).toEqual(['task:1 must_fix escape names in the parser']);
  });

  it('of the rest what fits a little comes first, then the newest', () => {
    const store = storeOf(
      factsFrom(1, said('near', 'polish the screen of the ledger')),
      factsFrom(2, said('far', 'paint')),
      factsFrom(3, said('close', 'rows of the ledger come from two sides')),
      ...OTHERS,
    );
    const { chosen, rest } = rankFacts(
      store,
      asked({ text: 'lock the rows that come from two sides of a ledger', maxFacts: 4, byRecency: true }),
    );
    expect(sayings(chosen.map((each) => each.fact))).toEqual([
      'task:close summary rows of the ledger come from two sides',
    ]);
    expect(rest.map((each) => each.fact.sourceTaskId)).toEqual(['near', 'other-59', 'other-58']);
  });

  it('a finding is chosen for a file that its task changed, and one that names the file in its words', () => {
    const store = storeOf(
      factsFrom(1, said('1', 'paint', 'src/a.ts')),
      factsFrom(2, reviewer({ task_id: '1', required_fixes: ['never swallow it'] })),
      factsFrom(3, reviewer({ task_id: '3', required_fixes: ['split src/a.ts in two'] })),
    );
    expect(shown(store, { text: 'go on', files: ['src/a.ts'] })).toEqual([
      'task:3 must_fix split src/a.ts in two',
      'task:1 must_fix never swallow it',
    ]);
  });

  it('similar past results bring their summary and what their review demanded', () => {
    const store = storeOf(
      factsFrom(1, said('1', 'paint', 'src/a.ts')),
      factsFrom(2, reviewer({ task_id: '1', required_fixes: ['use oil'] })),
      ...OTHERS,
    );
    const { considered } = rankFacts(store, asked({ text: 'go on', similar: new Map([['1', 0.5]]) }));
    expect(considered).toMatchObject([
      { because: 'similar', fact: { object: 'use oil' } },
      { because: 'similar', fact: { object: 'paint' } },
    ]);
  });
});

/** A file with eighty findings, and a rule for the whole code base. */
function busy(file: string): InMemorySessionFactStore {
  const reviews = Array.from({ length: 80 }, (_, n) =>
    factsFrom(
      n + 1,
      reviewer({
        task_id: `t${n}`,
        issues: [
          { severity: 'critical', file, message: `leak of kind ${n}` },
          ...(n === 7 ? [{ severity: 'minor' as const, file, message: 'always use streams' }] : []),
        ],
      }),
    ),
  );
  return storeOf(...reviews, ...OTHERS);
}

describe('the files that lead to facts', () => {
  it.each([
    ['named by its path', 'src/store.ts', { text: 'Change src/store.ts' }],
    ['named by its name', 'src/store.ts', { text: 'Change store.ts', files: ['src/store.ts'] }],
    ['named from the root', 'src/store.ts', { text: 'Change /home/me/project/src/store.ts' }],
    ['named from here', 'src/store.ts', { text: 'Change ./src/store.ts' }],
    ['a named manifest', 'package.json', { text: 'Sort package.json' }],
  ])('findings and conventions on a file take all places where it is %s', (_, file, overrides) => {
    const { chosen } = rankFacts(busy(file), asked(overrides));
    expect(chosen).toHaveLength(10);
    expect(chosen.filter(({ group }) => group === 'conventions')).toMatchObject([
      { fact: { object: 'always use streams' } },
    ]);
  });

  it('findings on a file that is only likely take the held places, and explain says so', () => {
    const { chosen, considered } = rankFacts(
      busy('src/store.ts'),
      asked({ text: 'go on', files: ['src/store.ts'] }),
    );
    expect(chosen).toHaveLength(3);
    expect(considered.filter(({ left }) => left === 'reserved')).toHaveLength(27);
  });

  it.each(['package.json', 'yarn.lock', 'CHANGELOG.md'])(
    'a file that most results touch leads nowhere: %s',
    (file) => {
      expect(rankFacts(busy(file), asked({ text: 'go on', files: [file] })).chosen).toEqual([]);
    },
  );
});

describe('an answer beside the ledger of its task', () => {
  const own = storeOf(
    factsFrom(
      1,
      implementer({
        task_id: '1',
        summary: 'keep sessions',
        files_modified: ['src/a.ts'],
        follow_up_actions: ['write docs'],
        facts: [
          { subject: 'sessions', relation: 'decided', object: 'live in redis' },
          { subject: 'redis', relation: 'listens_on', object: 'port 7000' },
          { subject: 'loops', relation: 'rule', object: 'never block', tags: ['convention'] },
        ],
      }),
    ),
    factsFrom(2, reviewer({ task_id: '1', issues: [{ severity: 'minor', message: 'avoid global state' }] })),
    ...OTHERS,
  );

  it('what a task decided and said in words is chosen for its next try, and nothing that the ledger shows', () => {
    const next = { text: 'finish', taskId: '1', besideLedger: true };
    expect(shown(own, next).toSorted()).toEqual([
      'loops rule never block',
      'redis listens_on port 7000',
      'sessions decided live in redis',
    ]);
    expect(shown(own, { ...next, besideLedger: false })).toEqual([]);
  });

  it('a decision that the summary of the task states is shown to other tasks alone', () => {
    const store = storeOf(factsFrom(1, said('1', 'We keep sessions in redis because writes dominate')));
    const decided = ['task:1 decided We keep sessions in redis because writes dominate'];
    expect(shown(store, { text: 'sessions in redis', besideLedger: true })).toEqual(decided);
    expect(shown(store, { text: 'sessions in redis', besideLedger: true, taskId: '1' })).toEqual([]);
  });

  it('decisions that nothing speaks for come by words, meaning and the word of a person, then by age', () => {
    const decision = (n: number, object: string) =>
      factsFrom(n, implementer({ facts: [{ subject: `s${n}`, relation: 'decided', object }] }));
    const common = Array.from({ length: 30 }, (_, n) =>
      factsFrom(60 + n, said(`t${n}`, `count the bounds ${n}`)),
    );
    const store = storeOf(
      decision(1, 'dates are UTC'),
      decision(2, 'bounds of the count'),
      decision(3, 'logs live for a month'),
      decision(4, 'ids sort by time'),
      ...common,
    );
    const [corrected] = store.getValid().filter(({ object }) => object === 'dates are UTC');
    if (corrected === undefined) throw new Error('no such fact');
    const instead = { ...corrected, id: 'x', object: 'dates are local', corrects: corrected.id };
    store.retract(corrected, { by: 'ann', at: corrected.validFrom, instead: 'x' }, instead);
    const about = { text: 'count', work: [], lasting: 4 };
    const all = [
      's2 decided bounds of the count',
      's1 decided dates are local',
      's4 decided ids sort by time',
    ];
    expect(shown(store, about)).toEqual([...all, 's3 decided logs live for a month']);
    const closeness = (text: string) => (text.includes('logs') ? 0.5 : 0.1);
    expect(shown(store, { ...about, closeness }).slice(0, 3)).toEqual([
      's2 decided bounds of the count',
      's1 decided dates are local',
      's3 decided logs live for a month',
    ]);
  });

  it('that a file was changed is said beside a ledger only where tags are asked for, and no verdict is', () => {
    const store = storeOf(factsFrom(1, said('1', 'paint', 'src/walls.ts')), ...OTHERS);
    const change = 'src/walls.ts modified_by task:1';
    const about = { text: 'walls', besideLedger: true };
    expect(shown(store, about)).toEqual([]);
    const all = { maxFacts: undefined, byRecency: true };
    expect(shown(store, { ...about, ...all, besideLedger: false })).toContain(change);
    const beside = shown(store, { ...about, ...all });
    expect(beside).toHaveLength(1 + OTHERS.length);
    expect(beside.every((saying) => saying.includes(' summary '))).toBe(true);
    expect(shown(store, { ...about, tags: ['file_change'] })).toEqual([change]);
  });

  it('a finding and a summary come by meaning alone, a few of each and none that is far from the task', () => {
    const near = Array.from({ length: 8 }, (_, n) => [
      factsFrom(n + 1, said(`a-${n}`, `paint the wall number ${n}`)),
      factsFrom(n + 20, reviewer({ task_id: `b-${n}`, required_fixes: [`close the door ${n}`] })),
    ]);
    const store = storeOf(...near.flat());
    const about = { text: 'shut it', work: [], besideLedger: true };
    expect(shown(store, about)).toEqual([]);
    const closeness = (text: string) => 0.15 + Number(text.at(-1)) / 10;
    const found = shown(store, { ...about, closeness });
    const inOrder = (text: string) => found.filter((each) => each.includes(text)).map((each) => each.at(-1));
    expect(inOrder('door')).toEqual(['7', '6', '5', '4', '3']);
    expect(inOrder('wall')).toEqual(['7', '6', '5']);
    expect(shown(store, { ...about, closeness: () => 0.1 })).toEqual([]);
  });

  it('the meaning of the newest 5,000 facts is compared, so that a long session costs no more', () => {
    const many = Array.from({ length: 5200 }, (_, n) =>
      factsFrom(n + 1, said(`a-${n}`, `paint the wall ${n}`)),
    );
    let compared = 0;
    const closeness = () => {
      compared += 1;
      return 0;
    };
    shown(storeOf(...many), { text: 'shut it', work: [], besideLedger: true, closeness });
    expect(compared).toBe(5000);
  });
});

describe('the places of an answer', () => {
  it('three of ten places are held for findings and conventions, though other facts fit better', () => {
    const close = Array.from({ length: 12 }, (_, n) =>
      factsFrom(n + 1, said(`a-${n}`, `rewrite import of ledger rows, case ${n}`)),
    );
    const findings = Array.from({ length: 5 }, (_, n) =>
      factsFrom(
        n + 50,
        reviewer({
          task_id: `b-${n}`,
          required_fixes: [`lock the ledger of kind ${n} while rows come from two sides at once`],
        }),
      ),
    );
    const { chosen } = rankFacts(
      storeOf(...close, ...findings, ...OTHERS),
      asked({ text: 'rewrite the import of ledger rows' }),
    );
    expect(chosen.filter(({ group }) => group === 'findings').length).toBeGreaterThanOrEqual(3);
    expect(chosen).toHaveLength(10);
  });

  it('one task does not take all places while others have something to say', () => {
    const many = Array.from({ length: 20 }, (_, n) => `import rows of case ${n}`);
    const one = factsFrom(1, implementer({ task_id: '1', follow_up_actions: many }));
    const store = storeOf(one, factsFrom(2, said('2', 'rows of the import')), ...OTHERS);
    const { chosen, considered } = rankFacts(store, asked({ text: 'import rows' }));
    expect(chosen.map((each) => each.fact.sourceTaskId)).toContain('2');
    expect(considered.some(({ left }) => left === 'one task' || left === 'rank')).toBe(true);
    expect(rankFacts(storeOf(one), asked({ text: 'import rows' })).chosen).toHaveLength(10);
  });

  it('near-duplicates count once, but numbers and places tell two matters apart', () => {
    const store = storeOf(
      factsFrom(1, reviewer({ task_id: '1', required_fixes: ['close the file handle after an error'] })),
      factsFrom(2, reviewer({ task_id: '2', required_fixes: ['Close the file handles after errors'] })),
      factsFrom(3, reviewer({ task_id: '3', required_fixes: ['file case 7', 'file case 8'] })),
      ...['src/a.ts', 'src/b.ts'].map((file, n) =>
        factsFrom(
          n + 4,
          reviewer({ task_id: `${n + 4}`, issues: [{ severity: 'minor', file, message: 'handle leaks' }] }),
        ),
      ),
    );
    const { chosen, considered } = rankFacts(store, asked({ text: 'file handle' }));
    expect(sayings(chosen.map((each) => each.fact)).toSorted()).toEqual([
      'src/a.ts issue handle leaks',
      'src/b.ts issue handle leaks',
      'task:2 must_fix Close the file handles after errors',
      'task:3 must_fix file case 7',
      'task:3 must_fix file case 8',
    ]);
    expect(considered.find(({ fact: { sourceTaskId } }) => sourceTaskId === '1')).toMatchObject({
      left: 'near-duplicate',
      duplicateOf: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });

  it('an answer keeps every rule, for the same facts in any order of dispatches', () => {
    const runs = fc
      .array(roleResults, { maxLength: 12 })
      .chain((results) =>
        fc.tuple(
          fc.constant(results),
          fc.shuffledSubarray([...results.keys()], { minLength: results.length }),
        ),
      );
    const texts = fc.constantFrom('check the bounds', 'src/a.ts never passed', 'close the file', '');
    const limits = { maxFacts: fc.option(fc.nat(15), { nil: undefined }), byRecency: fc.boolean() };
    fc.assert(
      fc.property(runs, texts, fc.record(limits), ([results, order], text, { maxFacts, byRecency }) => {
        const facts = results.map((returned, at) => factsFrom(at + 1, returned));
        const request = asked({
          text,
          maxFacts,
          byRecency,
          taskId: '2',
          files: ['src/a.ts'],
          similar: new Map([['1', 0.4]]),
        });
        const store = storeOf(...facts);
        const found = rankFacts(store, request);
        expect(rankFacts(storeOf(...order.map((at) => facts[at] ?? [])), request)).toEqual(found);
        expect(rankFacts(InMemorySessionFactStore.of(store.all()), request)).toEqual(found);
        const { considered, total } = found;
        const chosen = [...found.chosen, ...found.rest];
        expect(chosen.length).toBeLessThanOrEqual(maxFacts ?? Number.POSITIVE_INFINITY);
        if (!byRecency) expect(found.rest).toEqual([]);
        expect(considered.length).toBeLessThanOrEqual(30);
        expect(
          chosen.every((each) => each.fact.sourceTaskId !== '2' && each.fact.validTo === undefined),
        ).toBe(true);
        expect(new Set(chosen.map((each) => each.fact)).size).toBe(chosen.length);
        expect(found.chosen.length).toBeLessThanOrEqual(total);
        const left = considered.filter((each) => each.left !== undefined).map((each) => each.fact);
        expect(left.some((one) => chosen.some((each) => each.fact === one))).toBe(false);
      }),
    );
  });

  it('an answer is the same from an index that was kept up to date and from a new one', () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ add: roleResults, at: fc.integer({ min: 1, max: 12 }) }),
        fc.record({ compact: fc.nat(20) }),
      ),
      { maxLength: 15 },
    );
    const toldBy = ({ chosen, rest, considered, total }: FactRanking) => [
      ...considered.map(({ fact, because, left, duplicateOf }) => ({ fact, because, left, duplicateOf })),
      ...[...chosen, ...rest].map(({ fact, score, matched }) => ({ fact, score, matched })),
      total,
    ];
    fc.assert(
      fc.property(steps, fc.constantFrom('check the bounds', 'src/a.ts', 'close it'), (changes, text) => {
        const store = new InMemorySessionFactStore();
        const request = asked({ text, byRecency: true, files: ['src/a.ts'] });
        for (const change of changes) {
          rankFacts(store, request);
          if ('add' in change) store.add(factsFrom(change.at, change.add));
          else store.compact(change.compact);
          const rebuilt = InMemorySessionFactStore.of(store.all());
          expect(toldBy(rankFacts(store, request))).toEqual(toldBy(rankFacts(rebuilt, request)));
        }
      }),
    );
  });
});
