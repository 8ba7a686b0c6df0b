import { basename, join } from 'node:path';
import { ThroughlineError } from '../../contracts/errors.js';
import { projectStateDir, userStateDir } from '../../files/user-state.js';
import { hashOf } from '../../shared/hash.js';
import type { ConfigFile, Where } from './client-table.js';
import { entryState, ownLines } from './config-edit.js';

/**
 * What `throughline connect` keeps of a file that it writes into, in the state directory of the user: the file of before, and a
 * hash of the lines that it wrote. A repository can hold lines that look like ours, and is not believed.
 */
export interface ConnectRecord {
  /** Path of the copy of the file from before the first edit. */
  readonly copy: string;
  /** Path of the hash. It is there for every file that connecting has written. */
  readonly hash: string;
}

export function recordOf(path: string, { scope, project, env, home }: Where): ConnectRecord {
  const state = userStateDir(env, home);
  const folder = join(scope === 'project' ? projectStateDir(state, project) : state, 'connect');
  const name = `${basename(path)}-${hashOf(path)}`;
  return { copy: join(folder, `${name}.before`), hash: join(folder, `${name}.written`) };
}

/** Returns the hash that is recorded for a text. */
export function recordedHash(file: ConfigFile | undefined, text: string | undefined): string {
  return hashOf((file && ownLines(file, text)) ?? '');
}

/**
 * Refuses lines that look like ours and were not written here.
 *
 * @param recorded the hash of what connecting wrote last
 * @throws ThroughlineError `config_invalid` that names them
 */
export function requireOurs(file: ConfigFile, text: string | undefined, recorded: string | undefined): void {
  const lines = ownLines(file, text);
  if (lines === undefined || entryState(file, text) !== 'outdated' || recorded === hashOf(lines)) return;
  const what = file.kind === 'toml' ? 'the lines between "# >>> throughline" and "# <<< throughline"' : 'it';
  throw new ThroughlineError(
    'config_invalid',
    `${file.path}: "throughline connect" did not write ${what} as ${file.kind === 'toml' ? 'they stand' : 'it stands'} there: remove ${file.kind === 'toml' ? 'them' : 'it'} by hand, then run this again`,
  );
}
