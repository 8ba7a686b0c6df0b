import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCommits } from '../../src/cli/import-git.js';
import { folderOfFile } from '../support/of-file.js';

const repo = await folderOfFile();

it('the history of a repository whose own settings name programs is read without running any', async () => {
  const ran = join(repo, 'ran');
  const program = join(repo, 'program.sh');
  await writeFile(program, `#!/bin/sh\necho "$0" >> '${ran}'\n`, { mode: 0o755 });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', repo, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args])
      .toString()
      .trim();
  git('init', '--quiet');
  git('add', 'program.sh');
  git('commit', '--quiet', '--message', 'one');
  const tree = git('rev-parse', 'HEAD^{tree}');
  // As an archive of a folder with its `.git` can bring them.
  for (const name of ['core.fsmonitor', 'core.sshCommand', 'core.pager', 'gpg.program', 'diff.external'])
    git('config', name, program);
  git('config', 'log.showSignature', 'true');
  git('config', 'protocol.allow', 'always');
  git('config', 'protocol.ext.allow', 'always');
  git('config', 'extensions.partialClone', 'origin');
  git('config', 'remote.origin.promisor', 'true');
  git('config', 'remote.origin.url', `ext::${program}`);
  // An object that is missing is fetched from the remote, by the program that the settings name.
  await rm(join(repo, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
  await expect(readCommits({ path: repo, env: process.env }, { limit: 10 })).rejects.toMatchObject({
    code: 'usage',
  });
  git('config', '--unset', 'remote.origin.url');
  git('config', 'remote.origin.url', repo);
  git('config', 'remote.origin.uploadpack', program);
  await expect(readCommits({ path: repo, env: process.env }, { limit: 10 })).rejects.toMatchObject({
    code: 'usage',
  });
  expect(existsSync(ran)).toBe(false);
});
