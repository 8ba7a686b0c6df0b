import { rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';
import { makePrivateFolder, replaceFile, writePrivateFile } from '../../engine/files/user-state.js';
import type { Where } from './client-table.js';
import type { FileChange, ReadText } from './connect-plan.js';
import { readTextFile, targetOf } from './text-file.js';

const WRITABLE = 0o222;

type Place = Pick<Where, 'scope' | 'project'>;

/** Returns a reader for configuration files; files of a project must be inside it. */
export function readerOf(place: Place): ReadText {
  return (path) => readTextFile(path, boundsOf(path, place));
}

/** A repository is not trusted, so links may not lead out of the project. */
function boundsOf(path: string, { scope, project }: Place): string | undefined {
  return scope === 'project' && path.startsWith(`${project}${sep}`) ? project : undefined;
}

/**
 * Writes all changes, or rolls back. Files are replaced atomically with the same permissions, and only if they are unchanged since
 * the plan was made. Symbolic links are kept.
 *
 * @throws ThroughlineError `conflict` for a file that has changed; `config_invalid` for a read-only file, or a failed write
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
      throw new ThroughlineError(
        'config_invalid',
        `${path} is read-only, so nothing was written: run "chmod u+w" on it, then run this again`,
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
    const failed = changes[done.length]?.path;
    throw new ThroughlineError(
      'config_invalid',
      `${failed} cannot be written, so nothing was changed: ${messageOf(cause)}`,
      { cause },
    );
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
