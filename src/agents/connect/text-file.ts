import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isMissing, messageOf, ThroughlineError } from '../../contracts/errors.js';
import { readRegularFile } from '../../engine/files/user-state.js';

/** Refuses bytes that are not UTF-8: they would change when written back. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Limits in bytes. The user's own files may be large: some clients keep their history in them. */
const MAX_IN_REPOSITORY = 1024 * 1024;
const MAX_OWN = 128 * 1024 * 1024;

/**
 * Returns the text of a file, or `undefined` if there is none.
 *
 * @param within repository that must contain the file after following links; it is read as a regular file of bounded size
 * @throws ThroughlineError `config_invalid` if it cannot be read, leads out of the repository, or is not UTF-8
 */
export function readTextFile(path: string, within?: string): string | undefined {
  const read = readRegularFile(targetOf(path, within), within === undefined ? MAX_OWN : MAX_IN_REPOSITORY);
  if (read === undefined) return undefined;
  if ('fault' in read)
    throw new ThroughlineError(
      'config_invalid',
      `${path} cannot be read: it ${read.fault}: move it away, then run this again`,
    );
  try {
    return UTF8.decode(read);
  } catch (cause) {
    throw new ThroughlineError('config_invalid', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Follows the symbolic links of a path to its target, which need not exist.
 *
 * @throws ThroughlineError `config_invalid` if the target is not `within`, or below a `.git` there
 */
export function targetOf(path: string, within?: string): string {
  let target = path;
  // 40 is the system's own limit: more links form a cycle.
  for (let links = 0; links < 40; links += 1) {
    if (!isLink(target)) break;
    target = resolve(dirname(target), readlinkSync(target));
  }
  if (within === undefined) return target;
  const root = realpathSync(within);
  const folder = realFolder(dirname(target));
  const inside = relative(root, join(folder, basename(target)));
  const isOut = !`${folder}${sep}`.startsWith(`${root}${sep}`);
  // Git executes programs that files in `.git` name.
  if (!isOut && !inside.split(sep).some((name) => name.toLowerCase() === '.git')) return target;
  throw new ThroughlineError(
    'config_invalid',
    `${path} leads ${isOut ? 'out of the project' : 'into .git'}, to ${target}: remove the symbolic link, or connect with --user`,
  );
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Returns the real path of a folder, based on its nearest existing ancestor. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    if (!isMissing(error)) throw error;
    // A dangling link may point anywhere: it does not count as a folder of the project.
    if (isLink(folder)) return sep;
    return dirname(folder) === folder
      ? folder
      : resolve(realFolder(dirname(folder)), relative(dirname(folder), folder));
  }
}
