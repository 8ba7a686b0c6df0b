import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type TestedTier, tierOf } from '../tiers.js';
import { ROOT } from './pages.js';

const PAGE = join(ROOT, 'docs/explanation/reliability.md');

/** Faults that only the long version of the fault suite makes, by a part of their row. */
const LONG = ['or freezes and wakes up'];

/** Rows of the tables whose last but one cell names tests, as their cells. */
const ROWS = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('.test.ts)'))
  .map((line) => line.slice(2, -2).split(' | '));

it('each promise names the tiers that its tests run in', () => {
  expect(ROWS.length).toBeGreaterThan(70);
  const named = ROWS.map(([happens, , , tier]) => `${happens}: ${tier}`);
  const run = ROWS.map(([happens = '', , tests = '']) => {
    const tiers = new Set<TestedTier>();
    for (const [, path = ''] of tests.matchAll(/\(\.\.\/\.\.\/(test\/[^)]+\.test\.ts)\)/g))
      tiers.add(tierOf(path));
    if (LONG.some((text) => happens.includes(text))) tiers.add('long');
    return `${happens}: ${(['default', 'all', 'long'] as const).filter((tier) => tiers.has(tier)).join(', ')}`;
  });
  expect(named).toEqual(run);
});
