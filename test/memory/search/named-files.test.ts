import { describe, expect, it } from 'vitest';
import { endOf, fileWords, isNamed } from '../../../src/memory/search/path-table.js';

const names = (text: string, path: string) => isNamed(path, fileWords(text));

describe('files that a text names', () => {
  it.each([
    'Change src/store.ts',
    'see (./src/store.ts:12:3).',
    'fix `store.ts`, then rest',
    'open /home/me/project/src/store.ts!',
    'src\\store.ts is slow',
  ])('a file is named by its path, an end of it or a longer one: %s', (text) => {
    expect(names(text, 'src/store.ts')).toBe(true);
  });

  it.each(['Change the store', 'lib/store.ts', 'src/restore.ts', 'src/', 'src/store.tsx', 'e.g. this ...'])(
    'a file is not named by a word of its name or by another file: %s',
    (text) => {
      expect(names(text, 'src/store.ts')).toBe(false);
    },
  );

  it('a file without an ending is named in capitals, one in brackets as it is', () => {
    expect(names('Split the Dockerfile.', 'ci/Dockerfile')).toBe(true);
    expect(names('go to app/(shop)/[id]/page.tsx now', 'app/(shop)/[id]/page.tsx')).toBe(true);
  });

  it('the longest end of a path that is known is found', () => {
    const known = new Set(['src/a.ts', 'a.ts']);
    expect(endOf('/home/me/src/a.ts', (end) => known.has(end))).toBe('src/a.ts');
    expect(endOf('./lib/a.ts', (end) => known.has(end))).toBe('a.ts');
    expect(endOf('b.ts', (end) => known.has(end))).toBeUndefined();
  });
});
