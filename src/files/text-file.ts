import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { messageOf, systemCode, ThroughlineError } from '../contracts/errors.js';

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

/** Writes a file as a whole, at once, with the rights that it has. A symbolic link stays one. */
export function replaceFile(path: string, text: string): void {
  const target = targetOf(path);
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
export function targetOf(path: string): string {
  let target = path;
  // More links than a system follows are a circle, which cannot be read either.
  for (let links = 0; links < 40; links += 1) {
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  return target;
}
