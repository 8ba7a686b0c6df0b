import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../scripts/docs/pages.js';

const TEXT = readFileSync(join(ROOT, 'docs/contributing/specs.md'), 'utf8');
const ROWS = TEXT.split('\n')
  .filter((line) => /^\| (?!asked |-)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

const TEST_CELL = /^\[[\w-]+(?:\.property)?\]\(\.\.\/\.\.\/(test\/[^)]+\.test\.ts)\): `(.+)`$/;
/** A quoted text before a function: the title of a test, and of no `describe`. */
const TITLE = /(?<!describe\(\s*)(['"`])((?:\\.|(?!\1).)+)\1,\s*(?:async\b|\(|\w+ =>)/g;

const titlesOf = (path: string) =>
  [...readFileSync(join(ROOT, path), 'utf8').matchAll(TITLE)].map(([, , title = '']) => title);

it('each requirement of the specifications has a verdict, with a reason where it is met differently', () => {
  expect(ROWS.length).toBeGreaterThan(200);
  expect(
    ROWS.filter((cells) => cells.length !== 3 || !/^(done|(done|different): \S)/.test(cells[1] ?? '')),
  ).toEqual([]);
  const asked = ROWS.map(([requirement]) => requirement);
  expect(new Set(asked).size).toBe(asked.length);
  const done = ROWS.filter(([, verdict]) => verdict?.startsWith('done')).length;
  expect(TEXT).toContain(
    `${done} of ${ROWS.length} requirements are done, and ${ROWS.length - done} are met differently.`,
  );
});

it('each requirement of the specifications names a test that exists', () => {
  const missing = ROWS.map(([, , test = '']) => test).filter((test) => {
    const [, path = '', title = ''] = TEST_CELL.exec(test) ?? [];
    return (
      path === '' || !existsSync(join(ROOT, path)) || !titlesOf(path).some((each) => each.startsWith(title))
    );
  });
  expect(missing).toEqual([]);
});
