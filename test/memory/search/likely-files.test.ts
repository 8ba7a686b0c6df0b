import { describe, expect, it } from 'vitest';
import { type FileQuery, recall, similarResults } from '../../../src/memory/search/likely-files.js';
import { PastResults } from '../../../src/memory/search/past-results.js';
import { tokens } from '../../../src/memory/search/tokens.js';

function pastOf(...results: readonly (readonly [task: string, text: string, ...files: string[]])[]) {
  const past = new PastResults();
  for (const [index, [task, text, ...files]] of results.entries())
    past.add({ sequence: index + 1, task, tokens: tokens(text), files });
  return past;
}

const PAST = pastOf(
  ['1', 'feat: parse cookies of a request', 'src/http/cookie.ts', 'test/cookie.test.ts'],
  ['2', 'feat: route by path and method', 'src/router/match.ts', 'src/router/tree.ts'],
  ['3', 'docs: how to write a middleware', 'docs/middleware.md'],
  ['4', 'fix: cookies with an empty value', 'src/http/cookie.ts', 'src/http/request.ts'],
  ['5', 'chore: release', 'package.json', 'CHANGELOG.md'],
  ...Array.from({ length: 20 }, (_, n) => [`x${n}`, `perf: tune part ${n}`, `bench/part${n}.ts`] as const),
);

const paths = (text: string, more: Partial<FileQuery> = {}) =>
  recall(PAST, { text, maxFiles: 10, ...more }).files.map(({ path }) => path);

describe('likely files', () => {
  it('a file that similar results touched comes first, with their tasks, the nearest first', () => {
    const [first] = recall(PAST, { text: 'fix empty cookies', maxFiles: 10 }).files;
    expect(first).toMatchObject({ path: 'src/http/cookie.ts', uses: 2, tasks: ['4', '1'] });
    expect(first?.score).toBeGreaterThan(0.5);
    expect(first?.score).toBeLessThan(1);
  });

  it('a file is found by the words of its path, and by its name written in words', () => {
    expect(paths('speed up the tree')[0]).toBe('src/router/tree.ts');
    expect(paths('what does package json say')[0]).toBe('package.json');
  });

  it('files that say the same come in the order of their paths', () => {
    const past = pastOf(['1', 'one thing', 'b.ts', 'a.ts', 'c.ts']);
    const found = recall(past, { text: 'one thing', maxFiles: 2 }).files;
    expect(found.map(({ path }) => path)).toEqual(['a.ts', 'b.ts']);
  });

  it('similar results come best first, the newest of equal ones, at most twenty', () => {
    const found = similarResults(PAST, tokens('fix: cookies with an empty value')).similar;
    expect(found[0]?.row.task).toBe('4');
    expect(similarResults(PAST, tokens('perf: part')).similar.map(({ row }) => row.task)).toEqual(
      Array.from({ length: 20 }, (_, n) => `x${19 - n}`),
    );
    expect(similarResults(PAST, tokens('zebra')).similar).toEqual([]);
  });
});
