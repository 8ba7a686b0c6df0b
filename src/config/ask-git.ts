import { execFileSync } from 'node:child_process';
import { basename, dirname, relative } from 'node:path';
import type { GitVersion } from '../contracts/plan-requests.js';
import { ifPossible } from '../shared/text.js';
import { gitAbove } from './git-repository.js';

export const GIT_MS = 200;
const MAX_BYTES = 4 * 1024 * 1024;
const COMMITS = 50;

/** Returns the path of a file in its repository, and the commits that led to it as it is; undefined if git fails. */
export function fileVersion(path: string): GitVersion | undefined {
  const above = gitAbove(dirname(path));
  if (above === undefined) return undefined;
  const ask = (...args: string[]) => git(dirname(path), GIT_MS, args)?.trim();
  const committed = ask('ls-tree', 'HEAD', '--', basename(path));
  // The content is read as it is: git would run a filter that the repository names.
  const content = ask('hash-object', '--no-filters', '--', path);
  if (committed === undefined || content === undefined) return undefined;
  const file = relative(dirname(above), path);
  if (committed.split(/\s/)[2] !== content) return { file, commits: [] };
  const log = ask('log', `-n${COMMITS}`, '--no-show-signature', '--format=%H', '--', path);
  return log === undefined ? undefined : { file, commits: log.split('\n') };
}

/** A missing object would be fetched by a program that the settings name. */
const NO_FETCH = ['ext', 'file', 'ssh', 'git', 'http', 'https'].flatMap((name) => [
  '-c',
  `protocol.${name}.allow=never`,
]);

export function git(folder: string, ms: number, args: readonly string[]): string | undefined {
  const timeout = Math.max(1, Math.floor(ms));
  const safe = ['--no-optional-locks', '-c', 'core.fsmonitor=false', ...NO_FETCH];
  return ifPossible(() =>
    execFileSync('git', [...safe, ...args], {
      cwd: folder,
      timeout,
      maxBuffer: MAX_BYTES,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
}
