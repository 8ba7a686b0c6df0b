import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import { MAX_DOCUMENT, REQUIREMENTS_FILES } from '../../contracts/plan-requests.js';
import { MAX_PLAN_BYTES, readRegularFile, readTextFile } from './user-state.js';

/** Reads task files. An implementer reads only below the configured roots, after all links, and returns faults. */
export interface TasksFile {
  modified(path: string): Promise<{ readonly mtimeMs: number } | TasksFileFault>;
  read(path: string): Promise<{ readonly text: string; readonly mtimeMs: number } | TasksFileFault>;
}

export interface TasksFileFault {
  /** Completes "<path>: …". */
  readonly fault: string;
}

const NOT_A_FILE = 'is not a file';
const EXCHANGED = 'was replaced while it was being opened: try again';
/** Does not block on a pipe, follow a link or acquire a controlling terminal. */
const SAFELY = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

type Found<T> = T | TasksFileFault;

/**
 * Reads task files below `roots`; a relative path starts at the first root. `moreRoots` are consulted for a path that is not
 * below `roots`.
 *
 * The path may lie in an untrusted repository: a link as its last component is refused, and so is a linked folder that leads
 * from one root to another. Since the file may be replaced at any moment, its type and identity are checked on the open
 * handle, and its location is checked again after opening.
 */
export function localTasksFile(
  roots: readonly string[],
  moreRoots: () => readonly string[] = () => [],
): TasksFile {
  return {
    modified: (path) =>
      faultless(async () => {
        const place = await located(path, roots, moreRoots);
        return 'fault' in place ? place : { mtimeMs: place.seen.mtimeMs };
      }),
    read: (path) =>
      faultless(async () => {
        const place = await located(path, roots, moreRoots);
        if ('fault' in place) return place;
        await using handle = await open(place.real, SAFELY);
        const opened = await handle.stat();
        if (!opened.isFile()) return { fault: NOT_A_FILE };
        const now = await located(path, roots, moreRoots);
        if ('fault' in now) return now;
        if (now.seen.dev !== opened.dev || now.seen.ino !== opened.ino) return { fault: EXCHANGED };
        return await readWhole(handle, opened);
      }),
  };
}

/** Reads a plan from a path in an untrusted repository: a regular file of bounded size, not a link. */
export function readPlan(path: string): string | { readonly fault: string } {
  return readTextFile(path, MAX_PLAN_BYTES) ?? { fault: 'does not exist' };
}

/**
 * Returns what a request says of the plan at a path: also its text, since the service may not find the same file there. A file
 * that is not here, or too large to be sent, is named alone.
 *
 * @throws ThroughlineError `progress_ledger_missing_tasks` for a link and for what cannot be read
 */
export function planAt(path: string) {
  const tasksPath = resolve(path);
  const read = readRegularFile(tasksPath, MAX_PLAN_BYTES);
  if (read === undefined) return { tasksPath };
  if ('fault' in read) throw new ThroughlineError('progress_ledger_missing_tasks', `${path} ${read.fault}`);
  if (read.length > MAX_DOCUMENT) return { tasksPath };
  const tasksText = read.toString('utf8');
  return { tasksPath, tasksText, ...requirementsBeside(tasksPath, tasksText) };
}

/** Returns the requirements document beside a plan, if a request has room for both. */
function requirementsBeside(plan: string, tasksText: string): { readonly requirementsText?: string } {
  for (const name of REQUIREMENTS_FILES) {
    const beside = resolve(dirname(plan), name);
    const text = beside === plan ? undefined : readPlan(beside);
    if (typeof text !== 'string') continue;
    return tasksText.length + text.length > MAX_DOCUMENT ? {} : { requirementsText: text };
  }
  return {};
}

async function located(
  path: string,
  roots: readonly string[],
  moreRoots: () => readonly string[],
): Promise<Found<{ readonly real: string; readonly seen: Stats }>> {
  const [first] = roots;
  if (first === undefined) return { fault: 'no root is configured: set THROUGHLINE_TASKS_ROOTS' };
  const given = resolve(first, path);
  const real = await realpath(given);
  if (!(await isAllowed(given, real, roots, moreRoots))) {
    return {
      fault: `is outside the configured roots (${roots.join(', ')}): send its text too (tasksText), or see THROUGHLINE_TASKS_ROOTS`,
    };
  }
  // Opening a device may have effects, so the location is checked first.
  const seen = await lstat(given);
  if (seen.isSymbolicLink()) return { fault: 'is a symbolic link' };
  return seen.isFile() ? { real, seen } : { fault: NOT_A_FILE };
}

/** Returns true if the real path lies under the root that the given path names, or under any root if it names none. */
async function isAllowed(
  given: string,
  real: string,
  roots: readonly string[],
  moreRoots: () => readonly string[],
): Promise<boolean> {
  const named = (folders: readonly string[]) => folders.filter((root) => isInside(resolve(root), given));
  const inRoots = named(roots);
  const all = inRoots.length > 0 ? inRoots : [...roots, ...moreRoots()];
  const allowed = named(all).length > 0 ? named(all) : all;
  const folders = await Promise.all(allowed.map((root) => realpath(root).catch(() => undefined)));
  return folders.some((root) => root !== undefined && isInside(root, real));
}

async function readWhole(
  handle: FileHandle,
  { size, mtimeMs }: Stats,
): Promise<Found<{ readonly text: string; readonly mtimeMs: number }>> {
  if (size > MAX_PLAN_BYTES) return { fault: tooLarge(size) };
  // The file may grow while it is read: one byte more than allowed reveals that.
  const bytes = await buffer(handle.createReadStream({ start: 0, end: MAX_PLAN_BYTES, autoClose: false }));
  if (bytes.length > MAX_PLAN_BYTES) return { fault: tooLarge((await handle.stat()).size) };
  return { text: bytes.toString('utf8'), mtimeMs };
}

async function faultless<T>(work: () => Promise<Found<T>>): Promise<Found<T>> {
  try {
    return await work();
  } catch (error) {
    return { fault: systemCode(error) === 'ENOENT' ? 'does not exist' : messageOf(error) };
  }
}

function tooLarge(size: number): string {
  return `has ${size} bytes, the limit is ${MAX_PLAN_BYTES}`;
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
