import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { textOrNone } from '../engine/files/user-state.js';
import { hashOf } from '../shared/hash.js';

/** Reads the files of git itself, because starting git would take longer than a hook has. */

/** A repository with many branches has a large `config`. */
const MAX_GIT_FILE = 1024 * 1024;

/** The repository of a folder, or the folder itself if it is in none. */
export interface Repository {
  /** Real path of the `.git` that all work trees share, or of the folder. */
  readonly place: string;
  /** Tells a repository from an earlier one at the same path. */
  readonly born: number;
  /** Host and path of the remote in lower case, or the path of the folder. */
  readonly address: string;
  /** Readable name: the path of the remote, or the folder with a short hash of its path. */
  readonly name: string;
}

/**
 * @param directory a folder of the work tree
 * @param git its `.git`, if any
 */
export function repositoryOf(directory: string, git: string | undefined): Repository {
  const common = git === undefined ? undefined : commonFolder(git);
  const top = common ?? git;
  const folder = realpathSync(top === undefined ? directory : dirname(top));
  // A link to the `.git` of another repository is not that repository.
  const place = top === undefined ? folder : join(folder, basename(top));
  const remote = common === undefined ? undefined : remoteIn(gitText(join(common, 'config')));
  const address = remote ?? folder;
  // Some file systems have no time of birth.
  const { birthtimeMs, ino } = statSync(place);
  return {
    place,
    address,
    born: birthtimeMs || ino,
    name:
      remote === undefined
        ? `${basename(folder)}-${hashOf(folder).slice(0, 6)}`
        : remote.split('/').slice(1).join('-'),
  };
}

export function gitAbove(directory: string): string | undefined {
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    const git = join(folder, '.git');
    if (kindAt(git) !== undefined) return git;
    if (dirname(folder) === folder) return undefined;
  }
}

export function branchOf(git: string): string | undefined {
  return /^ref: refs\/heads\/(\S+)/.exec(gitText(join(gitFolder(git), 'HEAD')))?.[1];
}

/**
 * Returns the `.git` folder that all work trees of a repository share. A `.git` file may come with an archive, so the
 * repository must name this work tree as well.
 */
export function commonFolder(git: string): string | undefined {
  const folder = gitFolder(git);
  if (folder === git) return git;
  const back = gitText(join(folder, 'gitdir')).trim();
  const isLinked = basename(dirname(folder)) === 'worktrees' && back !== '' && resolve(folder, back) === git;
  return isLinked ? dirname(dirname(folder)) : undefined;
}

/** Returns the folder of `.git`. In a linked work tree or submodule, `.git` is a file with its path. */
function gitFolder(git: string): string {
  if (kindAt(git) === 'folder') return git;
  const path = gitText(git).replace(/^gitdir:\s*/, '');
  return resolve(dirname(git), path.trim());
}

/** User, host and port of a remote; one without a host is a local folder, which names no repository. */
const HOST = /^(?:[a-z+]+:\/\/(?:[^/@]*@)?(?<host>[^/:]+)(?::\d*)?\/|(?:[^/:@]*@)?(?<scp>[^/:]+):(?!\/\/))/i;

function remoteIn(config: string): string | undefined {
  const urls = new Map<string, string>();
  let remote: string | undefined;
  for (const line of config.split('\n').map((line) => line.trim())) {
    if (line.startsWith('[')) remote = /^\[remote "([^"]+)"\]$/.exec(line)?.[1];
    const url = /^url *= *(\S+)$/.exec(line)?.[1];
    if (remote !== undefined && url !== undefined && !urls.has(remote)) urls.set(remote, url);
  }
  const [first] = urls.values();
  const url = urls.get('origin') ?? first ?? '';
  const found = HOST.exec(url);
  const host = found?.groups?.host ?? found?.groups?.scp;
  if (found === null || host === undefined) return undefined;
  const path = url
    .slice(found[0].length)
    .split('/')
    .filter(Boolean)
    .join('/')
    .replace(/\.git$/, '');
  return path === '' ? undefined : `${host}/${path}`.toLowerCase();
}

export function gitText(path: string): string {
  return textOrNone(path, MAX_GIT_FILE);
}

export function kindAt(path: string): 'file' | 'folder' | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return found.isDirectory() ? 'folder' : 'file';
}
