import { existsSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { systemCode } from '../contracts/errors.js';
import {
  makePrivateFolder,
  namesIn,
  projectStateDir,
  textOrNone,
  writePrivateFile,
} from '../engine/files/user-state.js';
import { isObject, jsonOf } from '../shared/text.js';
import { commonFolder, gitAbove, repositoryOf } from './git-repository.js';
import { addName } from './session-names.js';

/**
 * A folder that this user has connected, recorded in the state directory. A repository's `.throughline.json` may name any
 * session, so it applies only in a recorded folder, with the settings of the time of connecting.
 */
export interface ConnectedProject extends ProjectSettings {
  /** Real path of the folder of its `.throughline.json`. */
  readonly folder: string;
}

export interface ProjectSettings {
  readonly session: string;
  readonly project: string;
  /** Path of a `tasks.md` in the project, from its folder. */
  readonly plan?: string;
  readonly agents?: Readonly<Record<string, string>>;
}

const RECORD = 'connected.json';
const MAX_RECORD = 128 * 1024;

/** Returns the record of a folder, or of the same folder in the main work tree of its git repository. */
export function connectedProject(stateDir: string, folder: string): ConnectedProject | undefined {
  const found = recordOf(stateDir, folder);
  if (found !== undefined) return found;
  const main = mainFolder(realpathSync(folder));
  const record = main === undefined ? undefined : recordOf(stateDir, main);
  // A link in an archive may lead from a forged repository to a connected folder.
  return record?.folder === main ? record : undefined;
}

export function recordConnected(stateDir: string, folder: string, settings: ProjectSettings): void {
  const place = projectStateDir(stateDir, folder);
  makePrivateFolder(place);
  const record: ConnectedProject = { folder: realpathSync(resolve(folder)), ...settings };
  writePrivateFile(join(place, RECORD), `${JSON.stringify(record)}\n`);
  const { address } = repositoryOf(folder, gitAbove(folder));
  addName(stateDir, { session: settings.session, address });
}

export function removeConnected(stateDir: string, folder: string): void {
  rmSync(join(projectStateDir(stateDir, folder), RECORD), { force: true });
}

const PAUSED = 'paused';

export function setPaused(stateDir: string, folder: string, paused: boolean): void {
  const place = projectStateDir(stateDir, folder);
  const mark = join(place, PAUSED);
  if (paused) {
    makePrivateFolder(place);
    writePrivateFile(mark, '');
  } else rmSync(mark, { force: true });
}

export function pausedText(folder: string): string {
  return `paused: nothing is kept of conversations in ${folder} until "throughline resume" there`;
}

/** Returns the paused folder that this one is, or lies in; undefined if there is none. */
export function pausedFolder(stateDir: string, folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    if (existsSync(join(projectStateDir(stateDir, at), PAUSED))) return at;
    if (dirname(at) === at) return undefined;
  }
}

export function connectedProjects(stateDir: string): ConnectedProject[] {
  const projects = join(stateDir, 'projects');
  return namesIn(projects).flatMap((name) => recordIn(join(projects, name)) ?? []);
}

function recordOf(stateDir: string, folder: string): ConnectedProject | undefined {
  try {
    const real = realpathSync(folder);
    const found = recordIn(projectStateDir(stateDir, real));
    return found?.folder === real ? found : undefined;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function recordIn(place: string): ConnectedProject | undefined {
  const record = jsonOf(textOrNone(join(place, RECORD), MAX_RECORD));
  if (!isObject(record)) return undefined;
  const { folder, session, project, plan, agents } = record;
  if (typeof folder !== 'string' || typeof session !== 'string' || typeof project !== 'string')
    return undefined;
  return {
    folder,
    session,
    project,
    ...(typeof plan === 'string' && { plan }),
    ...(isObject(agents) && { agents: agents as Record<string, string> }),
  };
}

/** Returns the corresponding folder in the main work tree of a linked git work tree. */
function mainFolder(folder: string): string | undefined {
  const git = gitAbove(folder);
  const common = git === undefined ? undefined : commonFolder(git);
  if (git === undefined || common === undefined || common === git || basename(common) !== '.git')
    return undefined;
  return join(dirname(common), relative(dirname(git), folder));
}
