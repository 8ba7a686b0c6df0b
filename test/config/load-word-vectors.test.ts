import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { wordVectorsLoader } from '../../src/config/load-word-vectors.js';
import { loggedWarnings } from '../support/logged.js';
import { folderOfTest } from '../support/of-file.js';

it('the word vectors are read once, with the first call', async () => {
  const { logger, warnings } = loggedWarnings();
  const load = wordVectorsLoader(logger, fileURLToPath(new URL('../../scripts/words', import.meta.url)));
  const words = await load();
  expect(words?.version).toMatch(/^minilm/);
  expect(await load()).toBe(words);
  expect(warnings).toEqual([]);
});

it('word vectors that are missing or damaged are named in the log, once, and words alone decide', async () => {
  const folder = await folderOfTest();
  for (const content of [undefined, 'not a table']) {
    if (content !== undefined) await writeFile(join(folder, 'word-vectors.bin'), content);
    const { logger, warnings } = loggedWarnings();
    const load = wordVectorsLoader(logger, folder);
    expect([await load(), await load()]).toEqual([undefined, undefined]);
    expect(warnings).toHaveLength(1);
  }
});
