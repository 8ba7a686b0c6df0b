import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMissing, systemCode, ThroughlineError } from '../../contracts/errors.js';
import { hashOf } from '../../shared/hash.js';
import { ifPossible } from '../../shared/text.js';

/** Returns the user's state directory: `$XDG_STATE_HOME/throughline` if absolute, else `<home>/.local/state/throughline`. */
export function userStateDir(env: Readonly<Record<string, string | undefined>>, home: string): string {
  const xdg = env.XDG_STATE_HOME;
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, '.local', 'state'), 'throughline');
}

/** Returns the name of the user; undefined in a container whose process runs under a number that no user has. */
export function userName(): string | undefined {
  return ifPossible(() => userInfo().username);
}

/** Returns a project's folder in the state directory, named after the project and a hash of its real path. */
export function projectStateDir(stateDir: string, project: string): string {
  const real = realpathSync(resolve(project));
  const name =
    basename(real)
      .replace(/[^A-Za-z0-9._-]/g, '-')
      .slice(0, 40) || 'root';
  return join(stateDir, 'projects', `${name}-${hashOf(real).slice(0, 12)}`);
}

/** Makes a folder and its parents private (0700). Throws `config_invalid` for a link or another user's folder. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  const user = process.getuid?.();
  if (found.isDirectory() && (user === undefined || user === 0 || found.uid === user)) {
    if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700);
    return;
  }
  const fault = found.isDirectory() ? `belongs to user ${found.uid}` : 'is not a folder';
  throw new ThroughlineError(
    'config_invalid',
    `${path} ${fault}: remove it, or set XDG_STATE_HOME to another place`,
  );
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export const MAX_PLAN_BYTES = 1024 * 1024;

export type UnreadableFile = { readonly fault: string };

/**
 * Reads a regular file of at most `maxBytes` bytes without following a link at its end and without blocking on a pipe or
 * device. Returns `undefined` if there is none, and the fault in words for anything else.
 */
export function readRegularFile(path: string, maxBytes: number): Buffer | UnreadableFile | undefined {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW, O_NOCTTY } = constants;
  let handle: number;
  try {
    // Windows lacks these flags.
    handle = openSync(path, O_RDONLY | (O_NONBLOCK ?? 0) | (O_NOFOLLOW ?? 0) | (O_NOCTTY ?? 0));
  } catch (error) {
    if (isMissing(error)) return undefined;
    const code = systemCode(error);
    return { fault: code === 'ELOOP' ? 'is a symbolic link' : `cannot be read (${code ?? String(error)})` };
  }
  try {
    if (!fstatSync(handle).isFile()) return { fault: 'is not a regular file' };
    // One byte more than allowed reveals a file that is too large or grows.
    const bytes = Buffer.allocUnsafe(maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(handle, bytes, length, bytes.length - length, null);
    }
    if (length > maxBytes) return { fault: `is larger than ${maxBytes} bytes` };
    return bytes.subarray(0, length);
  } finally {
    closeSync(handle);
  }
}

/** Returns the text of a regular file; empty if it is missing, too large or cannot be read. */
export function textOrNone(path: string, maxBytes: number): string {
  const read = readRegularFile(path, maxBytes);
  return read instanceof Buffer ? read.toString('utf8') : '';
}

/** Reads a text of at most `maxBytes` bytes as `readRegularFile` reads a file. */
export function readTextFile(path: string, maxBytes: number): string | UnreadableFile | undefined {
  const read = readRegularFile(path, maxBytes);
  if (read === undefined || 'fault' in read) return read;
  // Other bytes would change when written back.
  return isUtf8(read) ? read.toString('utf8') : { fault: 'cannot be read (it is not UTF-8 text)' };
}

/** Opens a file (0600) for appending and reading, following no link. Throws the system's error, `EINVAL` if not regular. */
export function openToAppend(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK, O_NOFOLLOW, O_NOCTTY } = constants;
  const flags = O_RDWR | O_APPEND | O_CREAT | (O_NONBLOCK ?? 0) | (O_NOFOLLOW ?? 0) | (O_NOCTTY ?? 0);
  const handle = openSync(path, flags, 0o600);
  if (fstatSync(handle).isFile()) return handle;
  closeSync(handle);
  throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EINVAL' });
}

/** Creates a whole file atomically with mode 0600; returns false, and changes nothing, if the path exists. */
export function createPrivateFile(path: string, text: string): boolean {
  try {
    byDraft(path, text, 0o600, (draft) => linkSync(draft, path));
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    return false;
  }
}

/** Writes a whole file atomically with mode 0600. Replaces a link at the path and never follows it. */
export function writePrivateFile(path: string, text: string): void {
  byDraft(path, text, 0o600, (draft) => renameSync(draft, path));
}

/** Replaces a file atomically and keeps its mode. A link at the path is replaced, not followed. */
export function replaceFile(target: string, text: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const found = lstatSync(target, { throwIfNoEntry: false });
  const mode = found?.isFile() ? found.mode : undefined;
  byDraft(target, text, mode, (draft) => {
    // Restores the bits that the umask removed.
    if (mode !== undefined) chmodSync(draft, mode);
    renameSync(draft, target);
  });
}

function byDraft(path: string, text: string, mode: number | undefined, place: (draft: string) => void): void {
  // Random: a repository cannot have placed a link under this name.
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    writeFileSync(draft, text, { flag: 'wx', ...(mode !== undefined && { mode }) });
    place(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Finds a folder that the build has made, `dist/NAME` of the package that contains this file, bundled or not. */
export function builtFolder(name: string, from = fileURLToPath(import.meta.url)): string | undefined {
  for (let dir = dirname(from); ; dir = dirname(dir)) {
    const folder = join(dir, 'dist', name);
    if (existsSync(folder)) return folder;
    if (dir === dirname(dir)) return undefined;
  }
}
