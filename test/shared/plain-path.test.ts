import { expect, it } from 'vitest';
import { plainPath } from '../../src/shared/plain-path.js';

it.each([
  ['/tmp/x/../y.ts', '/tmp/y.ts'],
  ['src/./a//b.ts', 'src/a/b.ts'],
  ['../../other/a.ts', '../../other/a.ts'],
  ['./src/a.ts', './src/a.ts'],
  ['src/.hidden/a.ts', 'src/.hidden/a.ts'],
  ['a...b/..c', 'a...b/..c'],
  ['https://example.org/a', 'https://example.org/a'],
  ['C:\\x\\..\\y.ts', 'C:\\x\\..\\y.ts'],
])('the path %s is written %s', (path, plain) => {
  expect(plainPath(path)).toBe(plain);
});
