import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../scripts/docs/pages.js';
import { TESTS } from '../tiers.js';

const PAGE = readFileSync(join(ROOT, 'docs/contributing/promises.md'), 'utf8');
const ROWS = PAGE.split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| promise |'))
  .map((line) => line.slice(2, -2).split(' | '));

it('each promise says what happens, and names tests that some tier runs', () => {
  expect(ROWS.length).toBeGreaterThan(100);
  expect(ROWS.filter(([promise = '']) => !/^.+: .+\.$/.test(promise))).toEqual([]);
  const untested = ROWS.filter(([, tests = '']) => {
    const paths = [...tests.matchAll(/\(\.\.\/\.\.\/(test\/[^)]+\.test\.ts)\)/g)].map(
      ([, path = '']) => path,
    );
    return paths.length === 0 || paths.some((path) => !TESTS.includes(path));
  });
  expect(untested).toEqual([]);
});
