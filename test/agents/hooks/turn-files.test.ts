import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { branchesAt, branchFacts, changesSince, workTreeAt } from '../../../src/agents/hooks/turn-files.js';
import { git, gitRepository } from '../../support/git.js';
import { folderOfTest } from '../../support/of-file.js';

/** A repository with four files in a folder, one of which a person has changed. */
async function repository() {
  const folder = join(await folderOfTest(), 'app');
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  mkdirSync(folder);
  for (const name of ['a.ts', 'b.ts', 'c.ts', 'd.ts']) write(name, `${name}\n`);
  gitRepository(folder);
  write('d.ts', 'changed by a person\n');
  const before = workTreeAt(folder);
  if (before === undefined) throw new Error('no work tree');
  return { folder, write, since: (...written: string[]) => changesSince(folder, before, written) };
}

describe('the files of a turn, as git knows them', () => {
  it('what is changed, deleted, renamed and made, and not what was dirty before', async () => {
    const { folder, write, since } = await repository();
    write('a.ts', 'new\n');
    rmSync(join(folder, 'b.ts'));
    git(folder, ['mv', 'c.ts', 'e.ts']);
    write('f.ts', 'made\n');
    expect(since()).toEqual({
      changed: ['a.ts', 'e.ts', 'f.ts'],
      deleted: ['b.ts'],
      renamed: [{ from: 'c.ts', to: 'e.ts' }],
      reverted: [],
    });
  });

  it('what is committed, and what was written and is as before', async () => {
    const { folder, write, since } = await repository();
    write('a.ts', 'new\n');
    git(folder, ['commit', '-qam', 'second']);
    expect(since('a.ts', 'b.ts', 'none.ts')).toEqual({
      changed: ['a.ts', 'd.ts'],
      deleted: [],
      renamed: [],
      reverted: ['b.ts'],
    });
  });

  it('the branches that were merged or deleted since, and not one that has no commits yet', async () => {
    const { folder } = await repository();
    const look = () => branchesAt(folder) ?? { all: [], unmerged: [] };
    const main = look().all[0] ?? '';
    git(folder, ['branch', '-m', main, 'main']);
    for (const name of ['merged', 'deleted', 'open']) {
      git(folder, ['checkout', '-qb', name, 'main']);
      git(folder, ['commit', '-q', '--allow-empty', '-m', name]);
    }
    git(folder, ['checkout', '-q', 'main']);
    git(folder, ['branch', 'new']);
    const branches = look();
    git(folder, ['merge', '-q', '--no-ff', '-m', 'merge', 'merged']);
    git(folder, ['branch', '-qD', 'deleted']);
    expect(branchFacts(branches, look()).map(({ subject, object }) => `${subject} ${object}`)).toEqual([
      'branch:deleted deleted',
      'branch:merged merged',
    ]);
  });

  it('no program that the settings of the repository name is run', async () => {
    const { folder, write } = await repository();
    const [ran, program] = [join(folder, '..', 'ran'), join(folder, '..', 'program.sh')];
    writeFileSync(program, `#!/bin/sh\necho "$0" >> '${ran}'\ncat\n`, { mode: 0o755 });
    write('.gitattributes', '*.ts filter=a diff=x');
    for (const name of ['core.fsmonitor', 'filter.a.clean', 'diff.x.textconv', 'diff.external'])
      git(folder, ['config', name, program]);
    git(folder, ['config', 'filter.a.required', 'true']);
    // Of the same size, so that git has to read it.
    write('a.ts', 'b.ts\n');
    expect(workTreeAt(folder)?.dirty).toMatchObject({ 'a.ts': { is: 'changed' } });
    // An option ends its name at the first sign of equality.
    write('.gitattributes', '*.ts filter=a=b');
    git(folder, ['config', 'filter.a=b.clean', program]);
    expect(workTreeAt(folder)).toBeUndefined();
    expect(existsSync(ran)).toBe(false);
  });

  it('nothing outside of a repository', async () => {
    expect(workTreeAt(await folderOfTest())).toBeUndefined();
  });
});
