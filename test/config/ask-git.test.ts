import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileVersion } from '../../src/config/ask-git.js';
import { gitRepository } from '../support/git.js';
import { folderOfTest } from '../support/of-file.js';

it('a plan has the commits that led to it, none once it is changed, and no version where git fails', async () => {
  const folder = await folderOfTest();
  const path = join(folder, 'tasks.md');
  writeFileSync(path, '- [ ] 1. Lexer\n');
  mkdirSync(join(folder, '.git'));
  expect(fileVersion(path)).toBeUndefined();
  gitRepository(folder);
  expect(fileVersion(path)).toEqual({ file: 'tasks.md', commits: [expect.stringMatching(/^[\da-f]{40}$/)] });
  expect(fileVersion(join(folder, 'none.md'))).toBeUndefined();
  writeFileSync(path, '- [ ] 1. Parser\n');
  expect(fileVersion(path)).toEqual({ file: 'tasks.md', commits: [] });
});
