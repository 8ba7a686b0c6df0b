import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCommits } from '../../src/cli/import-git.js';
import { git, gitRepository } from '../support/git.js';
import { folderOfFile, folderOfTest } from '../support/of-file.js';

const repo = await folderOfFile();

it('the history of a repository whose own settings name programs is read without running any', async () => {
  const ran = join(repo, 'ran');
  const program = join(repo, 'program.sh');
  await writeFile(program, `#!/bin/sh\necho "$0" >> '${ran}'\n`, { mode: 0o755 });
  gitRepository(repo);
  const tree = git(repo, ['rev-parse', 'HEAD^{tree}']).trim();
  const config = (...args: string[]) => git(repo, ['config', ...args]);
  // As an archive of a folder with its `.git` can bring them.
  for (const name of ['core.fsmonitor', 'core.sshCommand', 'core.pager', 'gpg.program', 'diff.external'])
    config(name, program);
  config('log.showSignature', 'true');
  config('protocol.allow', 'always');
  config('protocol.ext.allow', 'always');
  config('extensions.partialClone', 'origin');
  config('remote.origin.promisor', 'true');
  config('remote.origin.url', `ext::${program}`);
  // An object that is missing is fetched from the remote, by the program that the settings name.
  await rm(join(repo, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
  await expect(readCommits({ path: repo, env: process.env }, { limit: 10 })).rejects.toMatchObject({
    code: 'usage',
  });
  config('--unset', 'remote.origin.url');
  config('remote.origin.url', repo);
  config('remote.origin.uploadpack', program);
  await expect(readCommits({ path: repo, env: process.env }, { limit: 10 })).rejects.toMatchObject({
    code: 'usage',
  });
  expect(existsSync(ran)).toBe(false);
});

it('a git that hangs, with a process of its own, is given up after its time', async () => {
  const bin = await folderOfTest();
  await writeFile(join(bin, 'git'), '#!/bin/sh\nsleep 30\n', { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}` };
  await expect(readCommits({ path: bin, env, gitMs: 300 }, { limit: 1 })).rejects.toMatchObject({
    message: expect.stringContaining('git did not end within 0.3 s'),
  });
}, 10_000);

it('files that a commit renames and deletes are named, and only what is there counts as changed', async () => {
  const path = join(await folderOfTest(), 'project');
  const write = (file: string, text: string) => writeFile(join(path, file), text);
  await mkdir(path);
  await write('a b.ts', 'one\n'.repeat(20));
  await write('gone.ts', 'two\n');
  gitRepository(path);
  git(path, ['mv', 'a b.ts', 'c.ts']);
  git(path, ['rm', 'gone.ts']);
  await write('new.ts', 'three');
  git(path, ['add', '--all']);
  git(path, ['commit', '-m', 'Next']);
  const { commits } = await readCommits({ path, env: process.env }, { limit: 1 });
  expect(commits[0]).toMatchObject({
    files_modified: ['c.ts', 'new.ts'],
    files_deleted: ['gone.ts'],
    files_renamed: [{ from: 'a b.ts', to: 'c.ts' }],
  });
});
