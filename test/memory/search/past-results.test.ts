import { describe, expect, it } from 'vitest';
import { recall } from '../../../src/memory/search/likely-files.js';
import { PAST_LIMITS, type PastResult, PastResults } from '../../../src/memory/search/past-results.js';
import { tokens } from '../../../src/memory/search/tokens.js';
import * as fc from '../../support/properties.js';

const SMALL = { results: 12, resultBytes: 900, files: 15, pathBytes: 600 };

const words = fc.constantFrom('router', 'cookie', 'header', 'stream', 'größe', '登录', 'retry', 'timeout');
const path = fc
  .tuple(fc.constantFrom('src', 'test', 'docs/guide'), words, fc.constantFrom('.ts', '.test.ts', '.md'))
  .map(([folder, name, ending]) => `${folder}/${name}${ending}`);
const result: fc.Arbitrary<Omit<PastResult, 'sequence'>> = fc.record({
  task: fc.constantFrom('1', '2.1', 'a b'),
  tokens: fc.uniqueArray(words, { maxLength: 5 }),
  files: fc.uniqueArray(path, { maxLength: 4 }),
});
const results = (maxLength: number) =>
  fc
    .array(result, { maxLength })
    .map((all) => all.map((each, index): PastResult => ({ ...each, sequence: 3 * index + 1 })));

const bytes = (past: PastResults) => JSON.stringify(past);
const restored = (past: PastResults, limits = PAST_LIMITS) => new PastResults(past.toJSON(), limits);
const asked = (past: PastResults, text: string) => recall(past, { text, maxFiles: 50 }).files;

function taught(all: readonly PastResult[], limits = PAST_LIMITS): PastResults {
  const past = new PastResults(undefined, limits);
  for (const each of all) past.add(each);
  return past;
}

describe('the memory of past results', () => {
  it('offers a renamed file under its new name, and none that was deleted', () => {
    const past = taught([
      { sequence: 1, task: '1', tokens: tokens('cookie'), files: ['src/old.ts', 'src/gone.ts', 'src/a.ts'] },
      { sequence: 2, task: '2', tokens: tokens('cookie'), files: ['src/old.ts', 'src/b.ts'] },
    ]);
    const copy = past.copy();
    copy.changeFiles(
      [
        { from: 'src/old.ts', to: 'src/new.ts' },
        { from: 'src/a.ts', to: 'src/b.ts' },
        { from: 'src/b.ts', to: 'src/a.ts' },
      ],
      ['./src/gone.ts', 'src/unknown.ts'],
    );
    for (const memory of [copy, restored(copy)]) {
      const files = asked(memory, 'cookie').map(({ path, uses }) => `${path} ${uses}`);
      expect(files.sort()).toEqual(['src/a.ts 1', 'src/b.ts 1', 'src/new.ts 2']);
      expect(memory.rows.map((row) => row.files.map((file) => memory.paths.paths[file]))).toEqual([
        ['src/new.ts', 'src/b.ts'],
        ['src/new.ts', 'src/a.ts'],
      ]);
      expect([memory.knows('src/old.ts'), memory.knows('src/new.ts')]).toEqual([false, true]);
    }
    expect(past.knows('src/old.ts')).toBe(true);
  });

  it.each([PAST_LIMITS, SMALL])(
    'what is written and read back, then goes on, is the same memory: %j',
    (limits) => {
      fc.assert(
        fc.property(results(40), fc.nat(40), (all, cut) => {
          const whole = taught(all, limits);
          const part = restored(taught(all.slice(0, cut), limits), limits);
          expect(bytes(part)).toBe(bytes(taught(all.slice(0, cut), limits)));
          for (const each of all.slice(cut)) part.add(each);
          expect(bytes(part)).toBe(bytes(whole));
          expect(part.bytes).toBe(whole.bytes);
          expect(asked(part, 'fix the router and its cookie')).toEqual(
            asked(whole, 'fix the router and its cookie'),
          );
        }),
        { numRuns: 60 },
      );
    },
  );

  it.each([PAST_LIMITS, SMALL])('a copy and what it was made of go their own ways: %j', (limits) => {
    fc.assert(
      fc.property(results(20), results(20), results(20), (before, one, other) => {
        const past = taught(before, limits);
        const copy = past.copy();
        for (const each of one) past.add(each);
        for (const each of other) copy.add(each);
        expect(bytes(past)).toBe(bytes(taught([...before, ...one], limits)));
        expect(bytes(copy)).toBe(bytes(taught([...before, ...other], limits)));
      }),
      { numRuns: 60 },
    );
  });

  it('a memory keeps to its limits, whatever the results hold', () => {
    fc.assert(
      fc.property(results(60), (all) => {
        const past = taught(all, SMALL);
        expect(past.rows.length).toBeLessThanOrEqual(SMALL.results);
        expect(past.fileCount).toBeLessThanOrEqual(SMALL.files);
        expect(past.bytes).toBeLessThanOrEqual(SMALL.resultBytes + SMALL.pathBytes);
      }),
    );
  });

  it('a dispatch that comes late is remembered like any other', () => {
    const late = taught([
      { sequence: 9, task: '1', tokens: ['router'], files: ['a.ts'] },
      { sequence: 2, task: '2', tokens: ['cookie'], files: ['b.ts'] },
    ]);
    expect(restored(late).rows.map(({ sequence }) => sequence)).toEqual([9, 2]);
    expect(bytes(restored(late))).toBe(bytes(late));
  });

  it('numbers that end too early are refused', () => {
    const json = taught([{ sequence: 9, task: '1', tokens: ['router'], files: ['a.ts'] }]).toJSON();
    const cut = Buffer.from(json.numbers, 'base64').subarray(0, -1).toString('base64');
    expect(() => new PastResults({ ...json, numbers: cut })).toThrow('too early');
  });

  it('the tables of a long-lived memory hold little more than what is remembered', () => {
    const past = new PastResults(undefined, { ...PAST_LIMITS, results: 50, files: 50 });
    for (let n = 1; n <= 5000; n += 1)
      past.add({ sequence: n, task: String(n), tokens: tokens(`word${n}x topic`), files: [`src/${n}.ts`] });
    expect(past.paths.paths.length).toBeLessThan(1500);
    expect(bytes(restored(past, { ...PAST_LIMITS, results: 50, files: 50 }))).toBe(bytes(past));
  });

  it('2,000 results of a large project take less than 200 KB, and a file of the first is found', () => {
    const past = new PastResults();
    for (let n = 1; n <= 2000; n += 1) {
      const area = `area${n % 97}`;
      const text = `fix(${area}): handle case ${n} of thing${n % 211} when the server${n % 13} is slow`;
      const files = [
        `packages/${area}/src/thing${n % 211}.ts`,
        `packages/${area}/test/thing${n % 211}.test.ts`,
      ];
      past.add({ sequence: 2 * n, task: `TAS-${n}`, tokens: tokens(text), files });
    }
    expect(bytes(past).length).toBeLessThan(200_000);
    const [first] = asked(past, 'thing1 of area1 is slow');
    expect(first?.path).toBe('packages/area1/src/thing1.ts');
    expect(first?.tasks.length).toBeGreaterThan(0);
  });
});
