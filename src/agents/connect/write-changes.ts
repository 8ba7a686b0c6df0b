import { copyFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';
import { readTextFile, replaceFile, targetOf } from '../../files/text-file.js';
import { backupOf, type FileChange } from './connect-plan.js';

export { readTextFile };

/** Whether anyone may write a file. */
const WRITABLE = 0o222;

/**
 * Writes all changes, or none: what fails takes the earlier ones back. A file is replaced as a whole, with its rights, and
 * only while it is still what the change was made from. A symbolic link stays one.
 *
 * @throws ThroughlineError `conflict` for a file that has changed in between; `config_invalid` for one that is read-only, or cannot be
 * written
 */
export function writeChanges(changes: readonly FileChange[]): void {
  for (const { path, before } of changes) {
    if (readTextFile(path) !== before) {
      throw new ThroughlineError(
        'conflict',
        `${path} has changed in between, so nothing was written: run this again`,
      );
    }
    // It could be replaced all the same, where its folder can be written.
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
      if (change.backup === 'make') copyFileSync(change.path, backupOf(change.path));
      put(change.path, change.after);
      done.push(change);
    }
  } catch (cause) {
    for (const { path, before } of done.reverse()) put(path, before);
    for (const { path, backup } of changes) if (backup === 'make') rmSync(backupOf(path), { force: true });
    const failed = changes[done.length]?.path;
    throw new ThroughlineError(
      'config_invalid',
      `${failed} cannot be written, so nothing was changed: ${messageOf(cause)}`,
      { cause },
    );
  }
  for (const { path, backup } of changes) if (backup === 'drop') rmSync(backupOf(path), { force: true });
}

function put(path: string, text: string | undefined): void {
  if (text !== undefined) {
    replaceFile(path, text);
    return;
  }
  const target = targetOf(path);
  rmSync(target, { force: true });
  removeEmptyFolders(dirname(target));
}

/** Folders such as `.opencode/plugin` that we made: they go with the last file, the folder of the project never does. */
function removeEmptyFolders(folder: string): void {
  for (
    let at = folder;
    /^(plugin|\.(opencode|claude|codex|gemini|cursor))$/.test(basename(at));
    at = dirname(at)
  ) {
    try {
      rmdirSync(at);
    } catch {
      // It is not empty.
      return;
    }
  }
}
