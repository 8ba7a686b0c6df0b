import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { BOTH_LAYOUTS, SYSTEM } from '../../vitest.config.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

it('every test that counts processor time runs in a process of its own, where no other test adds to it', () => {
  const tests = readdirSync(`${ROOT}test`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`);
  const counting = tests.filter((path) =>
    readFileSync(ROOT + path, 'utf8').match(/^import .*support\/cpu-time\.js/m),
  );
  expect(counting.length).toBeGreaterThan(5);
  expect(counting.filter((path) => !SYSTEM.some((glob) => matchesGlob(path, glob)))).toEqual([]);
});

it('every test that runs in both layouts is there, and takes the layout from its surroundings', () => {
  for (const path of BOTH_LAYOUTS) {
    expect(existsSync(ROOT + path), path).toBe(true);
    expect(readFileSync(ROOT + path, 'utf8'), path).toMatch(/startSystem|systemOfFile/);
  }
});
