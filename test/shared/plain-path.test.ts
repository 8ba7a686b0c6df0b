import { expect, it } from 'vitest';
import { plainPath } from '../../src/shared/text.js';

it.each([
  ['/tmp/x/../y.ts', '/tmp/y.ts'],
  ['src/./a//b.ts', 'src/a/b.ts'],
  ['../../other/a.ts', '../../other/a.ts'],
  ['./src/a.ts', './src/a.ts'],
  ['src/.hidden/a.ts', 'src/.hidden/a.ts'],
  ['a...b/..c', 'a...b/..c'],
  ['https://example.org/a', 'https://example.org/a'],
  ['a/..', 'a/..'],
  ['src/../', 'src/../'],
  ['/tmp/../', '/'],
  ['//srv/share/x.ts', '//srv/share/x.ts'],
  ['src/a.ts:1 // TODO remove', 'src/a.ts:1 // TODO remove'],
  ['a//b (see http://x/y)', 'a//b (see http://x/y)'],
  ['C:\\x\\..\\y.ts', 'C:\\x\\..\\y.ts'],
])('the path %s is written %s', (path, plain) => {
  expect(plainPath(path)).toBe(plain);
});
