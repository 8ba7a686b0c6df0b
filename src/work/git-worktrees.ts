import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { readRegularFile } from '../engine/files/user-state.js';
import { hashOf } from '../shared/hash.js';
import { shellWord } from '../shared/text.js';
import { makeIgnoredFolder } from './run-folder.js';
import type { Workspaces } from './run-types.js';
import type { WorkPlace } from './task-prompt.js';

/**
 * Gives each task a git worktree, on a branch of its own that begins at the current commit. The branch of an approved task is
 * merged into the current branch and deleted, so a branch that still exists is unmerged work: a resumed run needs no other
 * record.
 *
 * A worktree is removed only if the merge has brought back all its files: its HEAD is the task's branch, no index flag hides a
 * file, and it contains no other repository. Otherwise it is kept for a person, with a command that helps.
 *
 * @param folder parent folder of the worktrees
 * @throws ThroughlineError `usage` if `directory` is not in a git repository with a commit and a branch
 */
export async function gitWorktrees(directory: string, folder: string, session: string): Promise<Workspaces> {
  const top = await git(directory, ['rev-parse', '--show-toplevel']);
  const head = await git(directory, ['rev-parse', '--verify', 'HEAD']);
  if (!top.ok || !head.ok) {
    const why = top.ok ? 'it has no commit yet' : top.output;
    throw usageError(`--worktrees needs a git repository at ${directory}: ${why}`);
  }
  const onto = await git(directory, ['symbolic-ref', '--quiet', 'HEAD']);
  if (!onto.ok) {
    throw usageError(
      `--worktrees needs a branch to merge into, and ${directory} is on a detached HEAD: run "git switch BRANCH"`,
    );
  }
  const root = top.output;
  const common = realpathSync(await must(root, ['rev-parse', '--path-format=absolute', '--git-common-dir']));
  // Agents work in the same subfolder of a worktree.
  const within = relative(root, realpathSync(directory));
  makeIgnoredFolder(folder);
  // git reports real paths.
  const trees = realpathSync(folder);
  const branchOf = (task: string) => `throughline/${session}/${named(task)}`;
  const pathOf = (task: string) => join(trees, named(task));
  const inGit = (place: string, args: string) => `git -C ${shellWord(place)} ${args}`;
  // Runs one change at a time, because all change the same repository.
  let before: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = before.then(work);
    before = next.catch(() => undefined);
    return next;
  }

  async function opened(task: string): Promise<string> {
    const [path, branch] = [pathOf(task), branchOf(task)];
    const tree = await treeAt(path, branch);
    if (tree !== undefined && 'fault' in tree) throw new ThroughlineError('conflict', tree.fault);
    if (tree === undefined) {
      const isKnown = await hasBranch(branch);
      await must(root, ['worktree', 'add', ...(isKnown ? [path, branch] : ['-b', branch, path])]);
    }
    return join(path, within);
  }

  /** Returns the worktree at a path, undefined if there is none, or why it cannot be used. */
  async function treeAt(path: string, branch: string): Promise<Tree | Fault | undefined> {
    const listed = (await must(root, ['worktree', 'list', '--porcelain'])).split('\n\n').map(treeIn);
    const tree = listed.find((each) => each.path === path);
    const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    if (!isThere && tree === undefined) return undefined;
    if (tree === undefined)
      return { fault: `${path} is not a worktree of ${root}: move it away, and start again` };
    if (isThere && leadsTo(path, common)) return tree;
    if (isThere)
      return {
        fault: `the .git file of worktree ${path} is gone or changed: run "${inGit(root, 'worktree repair')}", and start again`,
      };
    if (tree.branch === `refs/heads/${branch}`) {
      // All its commits are on the branch.
      await must(root, ['worktree', 'remove', '--force', path]);
      return undefined;
    }
    const help = `${inGit(root, `merge ${tree.head}`)} && ${inGit(root, 'worktree prune')}`;
    return {
      fault: `the worktree ${path} is gone: run "${help}" for what was committed in it, and start again`,
    };
  }

  async function hasBranch(branch: string): Promise<boolean> {
    return (await git(root, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])).ok;
  }

  async function isMerging(): Promise<boolean> {
    return (await git(root, ['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'])).ok;
  }

  /** Returns what a merge of the task's branch would lose. */
  async function beyondMerge(tree: Tree, branch: string): Promise<Fault | undefined> {
    const { path, head: at } = tree;
    if (tree.branch !== `refs/heads/${branch}`) {
      const help = (await hasBranch(branch))
        ? `${inGit(path, `switch ${branch}`)} && ${inGit(path, `merge ${at}`)}`
        : inGit(path, `switch --create ${branch}`);
      const on =
        tree.branch === undefined ? 'a detached HEAD' : tree.branch.replace('refs/heads/', 'branch ');
      return {
        fault: `approved, and not merged: its worktree ${path} is on ${on}, and not on ${branch}. To bring the commits there run "${help}", and start again`,
      };
    }
    const hidden = await overlookedIn(path);
    if (hidden !== undefined) {
      const help = `update-index --no-skip-worktree --no-assume-unchanged ${shellWord(hidden)}`;
      return {
        fault: `approved, and not merged: in ${path} an index flag hides ${hidden} from git. Run "${inGit(path, help)}", and start again`,
      };
    }
    const inner = await innerRepository(path);
    if (inner === undefined) return undefined;
    return {
      fault: `approved, and not merged: ${inner} is a repository of its own, which a merge does not bring back. Move it out of the worktree, and start again`,
    };
  }

  async function merged(task: string, about: string): ReturnType<Workspaces['merge']> {
    const [path, branch] = [pathOf(task), branchOf(task)];
    const tree = await treeAt(path, branch);
    if (tree !== undefined && 'fault' in tree) return tree;
    // Another run has already merged it.
    if (tree === undefined && !(await hasBranch(branch))) return {};
    const beyond = tree && (await beyondMerge(tree, branch));
    if (beyond !== undefined) return beyond;
    if (tree !== undefined && (await must(path, ['status', '--porcelain'])) !== '') {
      await must(path, ['add', '--all']);
      const committed = await git(path, ['commit', '--quiet', '--message', `${task}: ${about}`]);
      if (!committed.ok) return { fault: `its work in ${path} cannot be committed: ${committed.output}` };
    }
    // An agent can switch the branch of the whole repository.
    if ((await git(root, ['symbolic-ref', '--quiet', 'HEAD'])).output !== onto.output) {
      const help = inGit(root, `switch ${onto.output.replace('refs/heads/', '')}`);
      return {
        fault: `approved, and not merged: ${root} is no longer on the branch that the run began on. Run "${help}", and start again`,
      };
    }
    if (await isMerging())
      return { fault: `a merge is in progress in ${root}: finish or abort it, and start again` };
    const tip = await must(root, ['rev-parse', `refs/heads/${branch}`]);
    const message = `Merge task ${task}: ${about}`;
    // Merges a commit id, because a tag may have the name of the branch.
    const merge = await git(root, ['merge', '--no-ff', '--message', message, tip]);
    if (!merge.ok) {
      const conflicts = await git(root, ['diff', '--name-only', '--diff-filter=U']);
      const files = conflicts.output.split('\n').filter((file) => file !== '');
      if (await isMerging()) await must(root, ['merge', '--abort']);
      const why = files.length > 0 ? `conflicts in ${files.join(', ')}` : merge.output;
      return {
        fault: `approved, and not merged: ${why}. Run "git merge refs/heads/${branch}" and resolve them`,
      };
    }
    if (!(await git(root, ['merge-base', '--is-ancestor', tip, onto.output])).ok)
      return { fault: `approved, and ${branch} is not merged into ${onto.output}: start again` };
    const dropped = tree === undefined ? [] : await ignoredIn(path);
    // A process that an agent left behind may have written meanwhile.
    const now = tree === undefined ? tree : await treeAt(path, branch);
    const isMoved = (await must(root, ['rev-parse', `refs/heads/${branch}`])) !== tip;
    if (isMoved || (now !== undefined && ('fault' in now || now.head !== tip)))
      return { fault: `${path} changed during the merge: start again` };
    // Without --force git refuses to remove uncommitted files.
    const removed = tree === undefined ? undefined : await git(root, ['worktree', 'remove', path]);
    if (removed?.ok === false) {
      const help = inGit(root, `worktree remove --force ${shellWord(path)}`);
      return {
        fault: `merged, and its worktree cannot be removed: ${removed.output}. If nothing in it is needed run "${help}", and start again`,
      };
    }
    await must(root, ['branch', '--delete', '--force', branch]);
    return { dropped };
  }

  return {
    open: (task) => inTurn(() => opened(task)),
    merge: (task, about) => inTurn(() => merged(task, about)),
    async unmerged(tasks) {
      const all = await must(root, [
        'for-each-ref',
        '--format=%(refname)',
        `refs/heads/throughline/${session}`,
      ]);
      const branches = new Set(all.split('\n'));
      const isThere = (task: string) => lstatSync(pathOf(task), { throwIfNoEntry: false }) !== undefined;
      return new Set(tasks.filter((task) => branches.has(`refs/heads/${branchOf(task)}`) || isThere(task)));
    },
  };
}

/** Returns the commit and branch of a folder; undefined outside of a repository with a commit. */
export async function workPlace(directory: string): Promise<WorkPlace | undefined> {
  const head = await git(directory, ['rev-parse', '--verify', '--quiet', 'HEAD']).catch(() => undefined);
  if (head?.ok !== true) return undefined;
  const branch = await git(directory, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
  return { commit: head.output, ...(branch.ok && { branch: branch.output }) };
}

/** Returns the files that differ from the last commit, without ignored ones. */
export async function changedFiles(directory: string): Promise<string[]> {
  const listed = await Promise.all([
    git(directory, ['diff', '--name-only', '--relative', '-z', 'HEAD']),
    git(directory, ['ls-files', '--others', '--exclude-standard', '-z']),
  ]).catch(() => []);
  return listed.flatMap(({ ok, output }) => (ok ? output.split('\0').filter((file) => file !== '') : []));
}

interface Fault {
  readonly fault: string;
}

interface Tree {
  readonly path: string;
  readonly head: string;
  /** Undefined for a detached HEAD. */
  readonly branch: string | undefined;
}

function treeIn(entry: string): Tree {
  const lines = entry.split('\n');
  const field = (name: string) => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
  return { path: field('worktree') ?? '', head: field('HEAD') ?? '', branch: field('branch') };
}

/** Returns true if the `.git` file of a folder names a worktree of the repository; otherwise git uses the enclosing one. */
function leadsTo(path: string, common: string): boolean {
  const file = readRegularFile(join(path, '.git'), 64 * 1024);
  const named = Buffer.isBuffer(file) ? /^gitdir: (.+)\n?$/.exec(file.toString('utf8'))?.[1] : undefined;
  try {
    return named !== undefined && dirname(realpathSync(named)) === join(common, 'worktrees');
  } catch {
    return false;
  }
}

/** Returns a folder below this one that is a repository or worktree, or that cannot be read. */
async function innerRepository(path: string): Promise<string | undefined> {
  const left = [path];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) return at;
    const has = (name: string) => entries.some((entry) => entry.name === name);
    if (at !== path && (has('.git') || ['HEAD', 'objects', 'refs'].every(has))) return at;
    for (const entry of entries)
      if (entry.name !== '.git' && entry.isDirectory()) left.push(join(at, entry.name));
  }
  return undefined;
}

/** Returns a file whose changes `git status` and `git add` ignore because of an index flag. */
async function overlookedIn(path: string): Promise<string | undefined> {
  const listed = (await must(path, ['ls-files', '-v', '-z'])).split('\0');
  // A sparse checkout has the flag S as well, for files that are not there.
  const isHidden = (entry: string) =>
    /^[Sa-z] /.test(entry) && lstatSync(join(path, entry.slice(2)), { throwIfNoEntry: false }) !== undefined;
  return listed.find(isHidden)?.slice(2);
}

async function ignoredIn(path: string): Promise<string[]> {
  const status = await must(path, ['status', '--porcelain', '--ignored']);
  return status.split('\n').flatMap((line) => (line.startsWith('!! ') ? [line.slice(3)] : []));
}

/** Returns the id of a task as a part of a branch and a path. */
function named(task: string): string {
  const clean = task.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 60);
  return clean === task ? task : `${clean}-${hashOf(task).slice(0, 6)}`;
}

async function must(directory: string, args: readonly string[]): Promise<string> {
  const ran = await git(directory, args);
  if (ran.ok) return ran.output;
  throw new ThroughlineError('internal', `git ${args.join(' ')} failed in ${directory}: ${ran.output}`);
}

async function git(directory: string, args: readonly string[]) {
  // The setting keeps the user's or an agent's configuration from hiding new files, which `worktree remove` would then delete.
  // A process group of its own, because Ctrl-C must not leave half a merge.
  const child = spawn('git', ['-C', directory, '-c', 'status.showUntrackedFiles=normal', ...args], {
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
