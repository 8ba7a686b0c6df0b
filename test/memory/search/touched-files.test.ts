import { describe, expect, it } from 'vitest';
import { PastResults } from '../../../src/memory/search/past-results.js';
import { touchedFiles } from '../../../src/memory/search/touched-files.js';

function pastOf(...touched: readonly (readonly [task: string, ...files: string[]])[]): PastResults {
  const past = new PastResults();
  for (const [index, [task, ...files]] of touched.entries())
    past.add({ sequence: index + 1, task, tokens: [], files });
  return past;
}

describe('files that results touched', () => {
  const past = pastOf(
    ['1', 'src/a.ts', 'src/b.ts'],
    ['2', 'src/b.ts', 'src/a.ts'],
    ['3', 'src/b.ts', 'docs/c.md'],
  );

  it('the most used file comes first, with the tasks that touched it, the newest first', () => {
    expect(touchedFiles(past, { limit: 10 })).toMatchObject({
      files: [
        { path: 'src/b.ts', uses: 3, tasks: ['3', '2', '1'] },
        { path: 'src/a.ts', uses: 2, tasks: ['2', '1'] },
        { path: 'docs/c.md', uses: 1, tasks: ['3'] },
      ],
      total: 3,
    });
  });

  it('only files whose path holds all the words are listed', () => {
    const { files, total } = touchedFiles(past, { text: 'TS src', limit: 1 });
    expect(files.map(({ path }) => path)).toEqual(['src/b.ts']);
    expect(total).toBe(2);
  });
});
