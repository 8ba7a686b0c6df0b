import { closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode, ThroughlineError } from '../contracts/errors.js';
import { projectOf, type Token } from '../contracts/names.js';
import { makePrivateFolder, openToAppend, readRegularFile } from '../engine/files/user-state.js';
import { hashOf } from '../shared/hash.js';
import { jsonOf } from '../shared/text.js';
import type { Repository } from './git-repository.js';

/**
 * The sessions that the repositories of this user have used, an append-only list of JSON lines in the state directory. The
 * first line of a session names its owner: no other repository is given that session by its name. The last line of a
 * repository is the session that it keeps, whatever its remote becomes.
 */
const NAMES = 'session-names';
const MAX_NAMES = 1024 * 1024;

interface UsedName {
  readonly session: string;
  readonly address: string;
  /** Left out where the user has named the session: it says nothing of what the repository would be given. */
  readonly place?: string;
  readonly born?: number;
}

export function keptSession(stateDir: string, { place, born }: Repository): Token | undefined {
  const last = usedNames(stateDir).findLast((used) => used.place === place && used.born === born);
  return last === undefined ? undefined : projectOf(last.session);
}

/**
 * Returns the session for a repository that has none yet: its name, or its name with a hash of its address if another
 * repository owns that.
 *
 * @param keep called before the session is used, so that it belongs to the repository from now on
 */
export function newSession(stateDir: string, repository: Repository, keep: boolean): Token {
  const { address, name, place, born } = repository;
  const names = [name, `${name}-${hashOf(address).slice(0, 6)}`].map(projectOf);
  for (const session of names) {
    if ((ownerOf(stateDir, session) ?? address) !== address) continue;
    // Two may append at the same time: the first line counts.
    if (keep) addName(stateDir, { session, address, place, born });
    if ((ownerOf(stateDir, session) ?? address) === address) return session;
  }
  throw new ThroughlineError(
    'config_invalid',
    `other repositories have the sessions ${names.join(' and ')}: set THROUGHLINE_SESSION to a name for this one`,
  );
}

export function ownerOf(stateDir: string, session: Token): string | undefined {
  return usedNames(stateDir).find((used) => projectOf(used.session) === session)?.address;
}

/** Records a use. On a disk that cannot be written the session is found by its name again. */
export function addName(stateDir: string, name: UsedName): void {
  try {
    makePrivateFolder(stateDir);
    const file = openToAppend(join(stateDir, NAMES));
    writeSync(file, `${JSON.stringify(name)}\n`);
    closeSync(file);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

function usedNames(stateDir: string): UsedName[] {
  const path = join(stateDir, NAMES);
  const read = readRegularFile(path, MAX_NAMES);
  if (read === undefined) return [];
  if ('fault' in read)
    throw new ThroughlineError(
      'config_invalid',
      `${path} ${read.fault}: remove lines of folders that are gone`,
    );
  return (
    read
      .toString('utf8')
      .split('\n')
      // Only `addName` writes here; a crash may leave half a line.
      .flatMap((line) => (jsonOf(line) as UsedName | undefined) ?? [])
  );
}
