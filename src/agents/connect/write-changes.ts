import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import { backupOf, type FileChange } from './connect-plan.js';

/** Refuses bytes that are not UTF-8: written again they would be others. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of a file; `undefined` where there is none.
 *
 * @throws ThroughlineError `config_invalid` for one that cannot be read, or is not UTF-8
 */
export function readTextFile(path: string): string | undefined {
  try {
    return UTF8.decode(readFileSync(path));
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw new ThroughlineError('config_invalid', `${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

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
  const target = targetOf(path);
  if (text === undefined) {
    rmSync(target, { force: true });
    removeEmptyFolders(dirname(target));
    return;
  }
  mkdirSync(dirname(target), { recursive: true });
  const there = statSync(target, { throwIfNoEntry: false });
  const made = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(made, text, there === undefined ? {} : { mode: there.mode });
    // What the umask has taken from it.
    if (there !== undefined) chmodSync(made, there.mode);
    renameSync(made, target);
  } finally {
    rmSync(made, { force: true });
  }
}

/** The file that a path leads to by its symbolic links, also where there is none yet. */
function targetOf(path: string): string {
  let target = path;
  // More links than a system follows are a circle, which cannot be read either.
  for (let links = 0; links < 40; links += 1) {
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  return target;
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
