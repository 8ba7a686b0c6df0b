import { lstatSync, readlinkSync, realpathSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import {
  makePrivateFolder,
  readTextFile,
  replaceFile,
  writePrivateFile,
} from '../../engine/files/user-state.js';
import type { Where } from './client-table.js';
import type { FileChange } from './connect-plan.js';
import { unusable } from './json-entries.js';

const WRITABLE = 0o222;
/** Limits in bytes. The user's own files may be large: some clients keep their history in them. */
const MAX_IN_REPOSITORY = 1024 * 1024;
const MAX_OWN = 128 * 1024 * 1024;

type Place = Pick<Where, 'scope' | 'project'>;

export function readerOf(place: Place): Where['read'] {
  return (path) => configText(path, boundsOf(path, place));
}

/** A repository is not trusted, so links may not lead out of the project. */
function boundsOf(path: string, { scope, project }: Place): string | undefined {
  return scope === 'project' && path.startsWith(`${project}${sep}`) ? project : undefined;
}

/**
 * Writes all changes, or rolls back. Files are replaced atomically with the same permissions, and only if they are unchanged
 * since the plan was made. Symbolic links are kept. Throws `conflict` for a file that has changed; `config_invalid` for a
 * read-only file, or a failed write.
 */
export function writeChanges(changes: readonly FileChange[], place: Place): void {
  const read = readerOf(place);
  for (const { path, before } of changes) {
    if (read(path) !== before) {
      throw new ThroughlineError(
        'conflict',
        `${path} has changed in between, so nothing was written: run this again`,
      );
    }
    // A replacement would succeed in spite of the file's own permission.
    if (before !== undefined && (statSync(path).mode & WRITABLE) === 0) {
      throw unusable(
        path,
        'is read-only, so nothing was written: run "chmod u+w" on it, then run this again',
      );
    }
  }
  const done: FileChange[] = [];
  try {
    for (const change of changes) {
      const { path, before, after, backup, record } = change;
      if (backup === 'make') keep(record.copy, before ?? '');
      put(path, after, place);
      done.push(change);
    }
  } catch (cause) {
    for (const { path, before } of done.reverse()) put(path, before, place);
    for (const { record, backup } of changes) if (backup === 'make') rmSync(record.copy, { force: true });
    const failed = changes[done.length]?.path ?? '';
    throw unusable(failed, `cannot be written, so nothing was changed: ${messageOf(cause)}`, cause);
  }
  for (const { record, backup, hash } of changes) {
    if (hash !== undefined) keep(record.hash, hash);
    if (backup !== 'drop') continue;
    rmSync(record.copy, { force: true });
    rmSync(record.hash, { force: true });
  }
}

function keep(path: string, text: string): void {
  makePrivateFolder(dirname(path));
  writePrivateFile(path, text);
}

function put(path: string, text: string | undefined, place: Place): void {
  const target = targetOf(path, boundsOf(path, place));
  if (text !== undefined) {
    replaceFile(target, text);
    return;
  }
  rmSync(target, { force: true });
  removeEmptyFolders(dirname(target));
}

/** Removes empty folders such as `.opencode/plugin`, but never the folder of the project. */
function removeEmptyFolders(folder: string): void {
  for (
    let at = folder;
    /^(plugin|hooks|\.(opencode|claude|codex|gemini|copilot|github|cursor))$/.test(basename(at));
    at = dirname(at)
  ) {
    try {
      rmdirSync(at);
    } catch {
      // The folder is not empty.
      return;
    }
  }
}

/**
 * Returns the text of a file, or `undefined` if there is none.
 *
 * @param within repository that must contain the file after following links; it is read as a regular file of bounded size
 * @throws ThroughlineError `config_invalid` if it cannot be read, leads out of the repository, or is not UTF-8
 */
function configText(path: string, within?: string): string | undefined {
  const read = readTextFile(targetOf(path, within), within === undefined ? MAX_OWN : MAX_IN_REPOSITORY);
  if (typeof read === 'object') throw unusable(path, `it ${read.fault}: move it away, then run this again`);
  return read;
}

/** Follows the links of a path; the target need not exist. Throws `config_invalid` if it is not `within`, or in a `.git`. */
function targetOf(path: string, within?: string): string {
  let target = path;
  // 40 is the system's own limit: more links form a cycle.
  for (let links = 0; links < 40; links += 1) {
    if (!isLink(target)) break;
    target = resolve(dirname(target), readlinkSync(target));
  }
  if (within === undefined) return target;
  const inside = relative(realpathSync(within), join(realFolder(dirname(target)), basename(target)));
  const isOut = inside.split(sep)[0] === '..';
  // Git executes programs that files in `.git` name.
  if (!isOut && !inside.split(sep).some((name) => name.toLowerCase() === '.git')) return target;
  throw unusable(
    path,
    `leads ${isOut ? 'out of the project' : 'into .git'}, to ${target}: remove the symbolic link, or connect with --user`,
  );
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    // A dangling link may point anywhere: it does not count as a folder of the project.
    if (isLink(folder)) return sep;
    return dirname(folder) === folder
      ? folder
      : resolve(realFolder(dirname(folder)), relative(dirname(folder), folder));
  }
}
