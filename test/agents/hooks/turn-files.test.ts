import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { changesSince, workTreeAt } from '../../../src/agents/hooks/turn-files.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A repository with four files in a folder, one of which a person has changed. */
function repository() {
  const top = mkdtempSync(join(tmpdir(), 'throughline-tree-'));
  folders.push(top);
  const folder = join(top, 'app');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com', ...args], {
      cwd: folder,
    });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  mkdirSync(folder);
  git('init', '-q');
  for (const name of ['a.ts', 'b.ts', 'c.ts', 'd.ts']) write(name, `${name}\n`);
  git('add', '.');
  git('commit', '-qm', 'first');
  write('d.ts', 'changed by a person\n');
  const before = workTreeAt(folder);
  if (before === undefined) throw new Error('no work tree');
  return { folder, git, write, since: (...written: string[]) => changesSince(folder, before, written) };
}

describe('the files of a turn, as git knows them', () => {
  it('what is changed, deleted, renamed and made, and not what was dirty before', () => {
    const { folder, git, write, since } = repository();
    write('a.ts', 'new\n');
    rmSync(join(folder, 'b.ts'));
    git('mv', 'c.ts', 'e.ts');
    write('f.ts', 'made\n');
    expect(since()).toEqual({
      changed: ['a.ts', 'e.ts', 'f.ts'],
      deleted: ['b.ts'],
      renamed: [{ from: 'c.ts', to: 'e.ts' }],
      reverted: [],
    });
  });

  it('what is committed, and what was written and is as before', () => {
    const { git, write, since } = repository();
    write('a.ts', 'new\n');
    git('commit', '-qam', 'second');
    expect(since('a.ts', 'b.ts', 'none.ts')).toEqual({
      changed: ['a.ts', 'd.ts'],
      deleted: [],
      renamed: [],
      reverted: ['b.ts'],
    });
  });

  it('nothing outside of a repository', () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-tree-'));
    folders.push(folder);
    expect(workTreeAt(folder)).toBeUndefined();
  });
});
