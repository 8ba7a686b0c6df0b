import { lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { systemCode } from '../contracts/errors.js';
import { isObject } from '../shared/is-object.js';
import { makePrivateFolder, projectStateDir, readRegularFile, writePrivateFile } from './user-state.js';

/**
 * The projects that this user has connected, recorded in the state directory. A repository may carry a `.throughline.json`
 * that names any session: it applies only in a folder that is recorded here, and the recorded pair counts.
 */
export interface ConnectedProject {
  /** Real path of the folder of its `.throughline.json`. */
  readonly folder: string;
  readonly session: string;
  readonly project: string;
}

const RECORD = 'connected.json';
const MAX_RECORD = 16 * 1024;
const MAX_GIT_FILE = 16 * 1024;

/** Returns the record of a folder, or that of the same folder in the main work tree of its git repository. */
export function connectedProject(stateDir: string, folder: string): ConnectedProject | undefined {
  const found = recordOf(stateDir, folder);
  if (found !== undefined) return found;
  const main = mainFolder(realpathSync(folder));
  const record = main === undefined ? undefined : recordOf(stateDir, main);
  // A link in an archive may lead from a repository of its making to a connected folder.
  return record?.folder === main ? record : undefined;
}

/** Records that the user has connected a folder. */
export function recordConnected(
  stateDir: string,
  folder: string,
  { session, project }: Omit<ConnectedProject, 'folder'>,
): void {
  const place = projectStateDir(stateDir, folder);
  makePrivateFolder(place);
  const record: ConnectedProject = { folder: realpathSync(resolve(folder)), session, project };
  writePrivateFile(join(place, RECORD), `${JSON.stringify(record)}\n`);
}

/** Removes the record of a folder. */
export function removeConnected(stateDir: string, folder: string): void {
  rmSync(join(projectStateDir(stateDir, folder), RECORD), { force: true });
}

/** Returns all connected projects. */
export function connectedProjects(stateDir: string): ConnectedProject[] {
  const projects = join(stateDir, 'projects');
  let names: string[];
  try {
    names = readdirSync(projects);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
  return names.flatMap((name) => recordIn(join(projects, name)) ?? []);
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
  const read = readRegularFile(join(place, RECORD), MAX_RECORD);
  if (!(read instanceof Buffer)) return undefined;
  let record: unknown;
  try {
    record = JSON.parse(read.toString('utf8'));
  } catch {
    return undefined;
  }
  if (!isObject(record)) return undefined;
  const { folder, session, project } = record;
  if (typeof folder !== 'string' || typeof session !== 'string' || typeof project !== 'string')
    return undefined;
  return { folder, session, project };
}

/**
 * Returns the folder of the main work tree that a folder of another work tree stands for. A `.git` file alone may have come
 * with an archive, so the repository must name this work tree as well.
 */
function mainFolder(folder: string): string | undefined {
  for (let top = folder; dirname(top) !== top; top = dirname(top)) {
    const path = join(top, '.git');
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) continue;
    const [, gitFolder] = /^gitdir:\s*(.+)$/m.exec(textOf(path) ?? '') ?? [];
    if (gitFolder === undefined) return undefined;
    const own = resolve(top, gitFolder.trim());
    const back = textOf(join(own, 'gitdir'))?.trim();
    const common = dirname(dirname(own));
    const isLinked = back !== undefined && resolve(own, back) === path && basename(common) === '.git';
    return isLinked ? join(dirname(common), relative(top, folder)) : undefined;
  }
  return undefined;
}

function textOf(path: string): string | undefined {
  const read = readRegularFile(path, MAX_GIT_FILE);
  return read instanceof Buffer ? read.toString('utf8') : undefined;
}
