import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import { backupOf, type FileChange } from './connect-plan.js';

/** The text of a file; `undefined` where there is none. */
export function readTextFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw new ThroughlineError('config_invalid', `${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * Writes all changes, or none: what fails takes the earlier ones back. A file is replaced as a whole, with its rights, and
 * only while it is still what the change was made from. A symbolic link stays one.
 *
 * @throws ThroughlineError `conflict` for a file that has changed in between; `config_invalid` for one that cannot be written
 */
export function writeChanges(changes: readonly FileChange[]): void {
  for (const { path, before } of changes) {
    if (readTextFile(path) === before) continue;
    throw new ThroughlineError(
      'conflict',
      `${path} has changed in between, so nothing was written: run this again`,
    );
  }
  const done: FileChange[] = [];
  try {
    for (const change of changes) {
      if (change.backup === 'make') copyFileSync(change.path, backupOf(change.path));
      done.push(change);
      put(change.path, change.after);
    }
  } catch (cause) {
    for (const { path, before, backup } of done.reverse()) {
      put(path, before);
      if (backup === 'make') rmSync(backupOf(path), { force: true });
    }
    throw new ThroughlineError('config_invalid', `nothing was changed: ${messageOf(cause)}`, { cause });
  }
  for (const { path, backup } of changes) if (backup === 'drop') rmSync(backupOf(path), { force: true });
}

function put(path: string, text: string | undefined): void {
  if (text === undefined) {
    rmSync(path, { force: true });
    removeEmptyFolders(dirname(path));
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  const there = statSync(path, { throwIfNoEntry: false });
  const target = there === undefined ? path : realpathSync(path);
  const made = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(made, text, there === undefined ? {} : { mode: there.mode });
    renameSync(made, target);
  } finally {
    rmSync(made, { force: true });
  }
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
