import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { ThroughlineError } from '../contracts/errors.js';
import { hashOf } from '../shared/hash.js';
import type { Workspaces } from './run-types.js';

/**
 * A git worktree for each task, on a branch of its own that begins at what is checked out. An approved task's branch is
 * merged into the branch that is checked out, and goes. A branch that is there still is work that is not merged: a run that
 * goes on needs no other memory of it.
 *
 * @param folder where worktrees are made
 * @throws ThroughlineError `usage` where `directory` is not in a git repository with a commit and a branch
 */
export async function gitWorktrees(directory: string, folder: string, session: string): Promise<Workspaces> {
  const top = await git(directory, ['rev-parse', '--show-toplevel']);
  const head = await git(directory, ['rev-parse', '--verify', 'HEAD']);
  if (!top.ok || !head.ok) {
    const why = top.ok ? 'it has no commit yet' : top.output;
    throw new ThroughlineError('usage', `--worktrees needs a git repository at ${directory}: ${why}`);
  }
  const root = top.output;
  // Where the command was run within the repository, agents work in a worktree.
  const within = relative(root, realpathSync(directory));
  const branchOf = (task: string) => `throughline/${session}/${named(task)}`;
  const pathOf = (task: string) => join(folder, named(task));
  // One after the other: all of it changes the same repository.
  let before: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = before.then(work);
    before = next.catch(() => undefined);
    return next;
  }

  async function opened(task: string): Promise<string> {
    const [path, branch] = [pathOf(task), branchOf(task)];
    if (!existsSync(join(path, '.git'))) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, '.gitignore'), '*\n');
      await must(root, ['worktree', 'prune']);
      const isKnown = await hasBranch(branch);
      await must(root, ['worktree', 'add', ...(isKnown ? [path, branch] : ['-b', branch, path])]);
    }
    return join(path, within);
  }

  async function hasBranch(branch: string): Promise<boolean> {
    return (await git(root, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])).ok;
  }

  async function isMerging(): Promise<boolean> {
    return (await git(root, ['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'])).ok;
  }

  async function merged(task: string, about: string): Promise<{ readonly fault?: string }> {
    const [path, branch] = [pathOf(task), branchOf(task)];
    if (existsSync(join(path, '.git'))) {
      const status = await must(path, ['status', '--porcelain']);
      if (status !== '') {
        await must(path, ['add', '--all']);
        const committed = await git(path, ['commit', '--quiet', '--message', `${task}: ${about}`]);
        if (!committed.ok) return { fault: `its work in ${path} cannot be committed: ${committed.output}` };
      }
    }
    if (await isMerging())
      return { fault: `a merge is going on in ${root}: finish or abort it, and start again` };
    const message = `Merge task ${task}: ${about}`;
    const merge = await git(root, ['merge', '--no-ff', '--message', message, branch]);
    if (!merge.ok) {
      const conflicts = await git(root, ['diff', '--name-only', '--diff-filter=U']);
      const files = conflicts.output.split('\n').filter((file) => file !== '');
      if (await isMerging()) await must(root, ['merge', '--abort']);
      const why = files.length > 0 ? `conflicts in ${files.join(', ')}` : merge.output;
      return { fault: `approved, and not merged: ${why}. Run "git merge ${branch}" and settle them` };
    }
    await git(root, ['worktree', 'remove', '--force', path]);
    await must(root, ['branch', '--delete', '--force', branch]);
    return {};
  }

  return {
    open: (task) => inTurn(() => opened(task)),
    merge: (task, about) => inTurn(() => merged(task, about)),
    async unmerged(tasks) {
      const all = await must(root, [
        'for-each-ref',
        '--format=%(refname:short)',
        `refs/heads/throughline/${session}`,
      ]);
      const branches = new Set(all.split('\n'));
      return new Set(tasks.filter((task) => branches.has(branchOf(task))));
    },
  };
}

/** A task's id as a part of a branch and a path. */
function named(task: string): string {
  const clean = task.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 60);
  return clean === task ? task : `${clean}-${hashOf(task).slice(0, 6)}`;
}

async function must(directory: string, args: readonly string[]): Promise<string> {
  const ran = await git(directory, args);
  if (ran.ok) return ran.output;
  throw new ThroughlineError('internal', `git ${args.join(' ')} failed in ${directory}: ${ran.output}`);
}

async function git(
  directory: string,
  args: readonly string[],
): Promise<{ readonly ok: boolean; readonly output: string }> {
  // In a group of its own: Ctrl-C must not leave half a merge.
  const child = spawn('git', ['-C', directory, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const exited = once(child, 'close').catch((error: unknown) => {
    throw new ThroughlineError('usage', `git cannot be run: ${String(error)}`, { cause: error });
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  const said = code === 0 ? stdout : `${stdout}\n${stderr}`;
  return { ok: code === 0, output: said.trim() };
}
