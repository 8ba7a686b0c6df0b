import { lstatSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { GIT_MS, git } from '../../config/ask-git.js';
import { gitAbove } from '../../config/git-repository.js';
import { RELATIONS } from '../../contracts/relations.js';
import type { FilesChanged } from '../../memory/traces/finished-turn.js';

/** Asks git what a turn changed: also shell commands change, delete and rename files, and some of it is reverted again. */

export interface WorkTree {
  readonly head: string;
  /** Files that differ from the commit, with the time of their last change. */
  readonly dirty: Readonly<Record<string, { readonly is: 'changed' | 'deleted'; readonly at: number }>>;
  readonly renamed: FilesChanged['renamed'];
}

/** Returns the state of the work tree of a folder; undefined if there is none, or git takes longer than `ms`. */
export function workTreeAt(folder: string, ms = GIT_MS): WorkTree | undefined {
  const above = gitAbove(folder);
  if (above === undefined) return undefined;
  const inFolder = (path: string) => relative(folder, join(dirname(above), path));
  const status =
    'status --porcelain=v2 --branch -z --find-renames --untracked-files=all --ignore-submodules=dirty'.split(
      ' ',
    );
  const safely = withoutFilters(folder, ms);
  if (safely === undefined) return undefined;
  const text = git(folder, ms, [...safely, ...status, '--', '.']);
  if (text === undefined) return undefined;
  let head = '';
  const dirty: Record<string, { is: 'changed' | 'deleted'; at: number }> = {};
  const renamed: { from: string; to: string }[] = [];
  const lines = text.split('\0');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.startsWith('# branch.oid ')) head = line.slice('# branch.oid '.length);
    const fields = FIELDS_BEFORE[line[0] ?? ''];
    if (fields === undefined) continue;
    const path = inFolder(line.split(' ').slice(fields).join(' '));
    if (line[0] === '2') {
      at += 1;
      renamed.push({ from: inFolder(lines[at] ?? ''), to: path });
    }
    const time = lstatSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs;
    dirty[path] = time === undefined ? { is: 'deleted', at: 0 } : { is: 'changed', at: time };
  }
  return { head, dirty, renamed };
}

/** Fields of a line of `git status` before its path, by the kind of the line. */
const FIELDS_BEFORE: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1 };

/**
 * Returns what has changed between two states of a work tree. What was dirty before, and has not changed since, is left out.
 *
 * @param written files that the turn is known to have written: those that are clean now are reverted
 */
export function changesSince(
  folder: string,
  before: WorkTree,
  written: readonly string[],
  ms = GIT_MS,
): FilesChanged | undefined {
  const now = workTreeAt(folder, ms);
  if (now === undefined) return undefined;
  const committed = now.head === before.head ? [] : committedSince(folder, before.head, ms);
  const isNew = ([path, { at }]: [string, { readonly at: number }]) => before.dirty[path]?.at !== at;
  const fresh = Object.entries(now.dirty).filter(isNew);
  const wasRenamed = new Set(before.renamed.map(({ to }) => to));
  const isClean = (file: string) =>
    !(file in now.dirty) && !(file in before.dirty) && !committed.includes(file);
  const clean = written.filter(isClean);
  const tracked = clean.length === 0 ? '' : (git(folder, ms, ['ls-files', '-z', '--', ...clean]) ?? '');
  return {
    changed: [...fresh.flatMap(([path, { is }]) => (is === 'changed' ? [path] : [])), ...committed],
    deleted: fresh.flatMap(([path, { is }]) => (is === 'deleted' ? [path] : [])),
    renamed: now.renamed.filter(({ to }) => !wasRenamed.has(to)),
    reverted: tracked.split('\0').filter((file) => file !== ''),
  };
}

const MAX_BRANCHES = 500;

export interface Branches {
  readonly all: readonly string[];
  readonly unmerged: readonly string[];
}

/** Returns the local branches; undefined if there are none or too many, or git takes too long. */
export function branchesAt(folder: string, ms = GIT_MS): Branches | undefined {
  if (gitAbove(folder) === undefined) return undefined;
  const listed = (...args: string[]) =>
    git(folder, ms, ['for-each-ref', '--format=%(refname:short)', ...args, 'refs/heads'])?.split('\n');
  const all = listed()?.filter((name) => name !== '');
  if (all === undefined || all.length === 0 || all.length > MAX_BRANCHES) return undefined;
  const main = ['main', 'master'].find((name) => all.includes(name));
  const unmerged = main === undefined ? all : listed(`--no-merged=refs/heads/${main}`);
  return unmerged && { all, unmerged: unmerged.filter((name) => name !== '') };
}

/** Returns the facts about branches that have been merged or deleted between two looks. */
export function branchFacts(before: Branches, now: Branches) {
  return before.all.flatMap((name) => {
    const isMerged = before.unmerged.includes(name) && !now.unmerged.includes(name);
    const object = !now.all.includes(name) ? 'deleted' : isMerged ? 'merged' : undefined;
    return object === undefined
      ? []
      : [{ subject: `branch:${name}`, relation: RELATIONS.branchEnded, object }];
  });
}

function committedSince(folder: string, head: string, ms: number): string[] {
  const diff = 'diff --no-ext-diff --name-only --relative --diff-filter=d -z'.split(' ');
  const names = git(folder, ms, [...diff, head, 'HEAD']) ?? '';
  return names.split('\0').filter((file) => file !== '');
}

/** Turns off the repository's filters, which git runs and an archive can bring. Undefined if an option cannot name one. */
function withoutFilters(folder: string, ms: number): string[] | undefined {
  const fields = git(folder, ms, ['config', '--show-scope', '--name-only', '-z', '--get-regexp', '^filter']);
  const names = (fields ?? '')
    .split('\0')
    .filter((_, at, all) => at % 2 === 1 && /^(?:local|worktree)$/.test(all[at - 1] ?? ''));
  return names.some((name) => name.includes('=')) ? undefined : names.flatMap((name) => ['-c', `${name}=`]);
}
