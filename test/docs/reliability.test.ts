import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../scripts/docs/pages.js';
import { type TestedTier, tierOf } from '../tiers.js';

const PAGE = join(ROOT, 'docs/contributing/promises.md');
const PROMISES = join(ROOT, 'docs/explanation/reliability.md');

/** Faults that only the long version of the fault suite makes, by a part of their row. */
const LONG = ['or freezes and wakes up'];

const rowsOf = (page: string) =>
  readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| if |'))
    .map((line) => line.slice(2, -2).split(' | '));

/** Rows of the tables that name tests, as their cells. */
const ROWS = rowsOf(PAGE).filter((cells) => cells.some((cell) => cell.includes('.test.ts)')));

it('each promise has a row with its tests', () => {
  const promised = rowsOf(PROMISES).map(([happens]) => happens);
  const tested = ROWS.map(([happens]) => happens);
  expect(promised.filter((happens) => happens !== 'in a cloned repository')).toEqual(tested);
});

it('each promise names the tiers that its tests run in', () => {
  expect(ROWS.length).toBeGreaterThan(70);
  const named = ROWS.map(([happens, , tier]) => `${happens}: ${tier}`);
  const run = ROWS.map(([happens = '', tests = '']) => {
    const tiers = new Set<TestedTier>();
    for (const [, path = ''] of tests.matchAll(/\(\.\.\/\.\.\/(test\/[^)]+\.test\.ts)\)/g))
      tiers.add(tierOf(path));
    if (LONG.some((text) => happens.includes(text))) tiers.add('long');
    return `${happens}: ${(['default', 'all', 'long'] as const).filter((tier) => tiers.has(tier)).join(', ')}`;
  });
  expect(named).toEqual(run);
});
