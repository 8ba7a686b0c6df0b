import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { stateDirOf } from '../config/config.js';
import { codeOf, messageOf, ThroughlineError } from '../contracts/errors.js';
import { projectOf, type Token } from '../contracts/names.js';
import type { RunStatusReply } from '../contracts/replies/run-reply.js';
import {
  type ConnectedProject,
  connectedProject,
  connectedProjects,
  type ProjectSettings,
} from '../engine/files/connected-projects.js';
import { readRegularFile } from '../engine/files/user-state.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { isObject } from '../shared/text.js';

/** The session, project and plan that an agent works on. */
export interface AgentSession {
  readonly session: Token;
  readonly project?: string;
  /** Absolute path of a `tasks.md`. */
  readonly plan?: string;
  /** Role of each agent, by its name; `main` is the agent that the user talks to. */
  readonly agents?: Readonly<Record<string, string>>;
  /** Id of the main agent's result, if the program that started the agent publishes that result too. */
  readonly resultId?: string;
  /** The branch that is checked out. */
  readonly branch?: string;
  /** Set if the session has the name of the remote or the folder: nobody has named it, or connected the folder. */
  readonly isGuessed?: true;
  /** Set if turns that end without a result are not published: `agents.turns` is false. */
  readonly turns?: false;
  /** Describes changes of the `.throughline.json` since it was connected, which are ignored. */
  readonly changed?: string;
}

const PROJECT_FILE = '.throughline.json';

/** Size limit of a `.throughline.json`, in bytes. */
export const MAX_PROJECT_FILE = 64 * 1024;
const MAX_GIT_FILE = 16 * 1024;

/**
 * Returns the session of an agent, the first of these that exists: `THROUGHLINE_SESSION`, the session of the connected
 * project, `owner-repo` of the git remote, the name of the folder with a short hash of its path. All branches and work trees
 * of a repository share one memory.
 *
 * A repository chooses its `.throughline.json`, remote and folder names, so none of them may select the session of another
 * connected project.
 *
 * @throws ThroughlineError `config_invalid` for an invalid `.throughline.json`; `not_connected` for one in a folder that the user
 * has not connected, and for a remote with the name of another project's session
 */
export function agentSession({
  env,
  directory,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}): AgentSession {
  const { file, git } = projectAt(directory);
  const stateDir = stateDirOf(env);
  const known =
    file === undefined ? workTreeOf(stateDir, directory, git) : connectedProject(stateDir, dirname(file));
  const named = env.THROUGHLINE_SESSION || known?.session;
  if (named === undefined && file !== undefined) throw notConnected(file);
  const session = projectOf(named ?? ownName(directory, git));
  const project = env.THROUGHLINE_PROJECT || (known?.project ?? (named === undefined ? session : undefined));
  if (named === undefined) refuseOthers(session, directory, stateDir);
  const { agents } = known ?? {};
  const top = git === undefined ? directory : dirname(git);
  // A session that is named elsewhere has its own plan.
  const plan = known === undefined && named !== undefined ? undefined : planOf(known, top, file);
  const branch = branchOf(git);
  const changed = known && file && changeOf(file, known);
  return {
    session,
    ...(agents?.turns === 'false' && { turns: false as const }),
    ...(branch !== undefined && { branch }),
    ...(named === undefined && { isGuessed: true as const }),
    ...(project !== undefined && { project }),
    ...(plan !== undefined && { plan }),
    ...(agents !== undefined && { agents }),
    ...(env.THROUGHLINE_RESULT_ID && { resultId: env.THROUGHLINE_RESULT_ID }),
    ...(changed && { changed }),
  };
}

/** The project of a git work tree beside a connected one: `.throughline.json` need not be committed. */
function workTreeOf(
  stateDir: string,
  directory: string,
  git: string | undefined,
): ConnectedProject | undefined {
  if (git === undefined || kindAt(git) !== 'file') return undefined;
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    const known = connectedProject(stateDir, folder);
    if (known !== undefined || folder === dirname(git)) return known;
  }
}

/**
 * Returns the plan that was recorded when the folder was connected, or else the one that `plan follow` would find. A linked
 * work tree without a plan of its own shares that of the main one.
 */
function planOf(
  known: ConnectedProject | undefined,
  top: string,
  file: string | undefined,
): string | undefined {
  const own = file === undefined ? top : dirname(file);
  const main = known?.folder ?? own;
  const plan = known?.plan ?? plainPlan(own) ?? plainPlan(main);
  if (plan === undefined) return undefined;
  const here = join(own, plan);
  return own === main || kindAt(here) === 'file' ? here : join(main, plan);
}

/** Tells a new session its project and plan. Returns false if it has neither. */
export async function openOwnSession(
  { session, project, plan }: AgentSession,
  client: ThroughlineClient,
): Promise<boolean> {
  if (project !== undefined) await client.tools.sessionOpen({ session, project });
  if (plan !== undefined) await followOwnPlan(client, session, plan);
  return project !== undefined || plan !== undefined;
}

/**
 * Has a session follow the plan of its folder; sends the text where the service may not read the file.
 *
 * @throws ThroughlineError as `runInit`
 */
export async function followOwnPlan(
  client: ThroughlineClient,
  session: string,
  plan: string,
): Promise<RunStatusReply> {
  try {
    return await client.initRun({ session, tasksPath: plan });
  } catch (error) {
    if (codeOf(error) !== 'progress_ledger_missing_tasks') throw error;
    // Only a few hooks need it.
    const { readPlan } = await import('../engine/files/local-tasks-file.js');
    const tasksText = readPlan(plan);
    if (typeof tasksText !== 'string') throw error;
    return client.initRun({ session, tasksText, spec: session });
  }
}

/** Usual locations of plans below a folder; `*` is any folder. */
export const PLAN_PLACES = [
  '.kiro/specs/*/tasks.md',
  'specs/*/tasks.md',
  '.spec-workflow/specs/*/tasks.md',
  'openspec/changes/*/tasks.md',
  'tasks.md',
  '.taskmaster/tasks/tasks.json',
  'PLAN.md',
  'TODO.md',
] as const;

/** Returns paths of the plans at usual places, relative to the folder, in the order of the places. */
export function plansIn(folder: string): string[] {
  const names = namesIn(folder);
  return PLAN_PLACES.flatMap((place) => matches(folder, names, place.split('/')));
}

/** Returns the plan that needs no choice: the only one at a usual place, or else `tasks.md`. */
export function plainPlan(folder: string): string | undefined {
  const plans = plansIn(folder);
  return plans.length === 1 ? plans[0] : plans.find((path) => path === 'tasks.md');
}

function matches(
  folder: string,
  names: readonly string[],
  [part = '', ...rest]: readonly string[],
): string[] {
  // A name is looked up in the folder, so that `tasks.md` does not also match TASKS.md where the disk ignores case.
  const fitting = part === '*' ? [...names].sort() : names.filter((name) => name === part);
  return fitting.flatMap((name) => {
    const path = join(folder, name);
    if (rest.length === 0) return kindAt(path) === 'file' ? [name] : [];
    // It may lead out of the project.
    if (lstatSync(path).isSymbolicLink()) return [];
    return matches(path, namesIn(path), rest).map((more) => join(name, more));
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns the default project name: the remote's, else the folder's. */
function ownName(directory: string, git: string | undefined): string {
  const common = git === undefined ? undefined : commonFolder(git);
  const remote = common === undefined ? undefined : remoteIn(gitText(join(common, 'config')));
  if (remote !== undefined) return remote;
  const top = common ?? git;
  const folder = realpathSync(top === undefined ? directory : dirname(top));
  return `${basename(folder)}-${createHash('sha256').update(folder).digest('hex').slice(0, 6)}`;
}

/** Host part of a remote address; an address without one is a local folder and names no project. */
const HOST = /^(?:[a-z+]+:\/\/[^/]+\/|[^/:]+:(?!\/))/;

/** `owner-repo` of `origin`, or of the first remote. */
function remoteIn(config: string): string | undefined {
  const urls = new Map<string, string>();
  let remote: string | undefined;
  for (const line of config.split('\n').map((each) => each.trim())) {
    if (line.startsWith('[')) remote = /^\[remote "([^"]+)"\]$/.exec(line)?.[1];
    const url = /^url *= *(\S+)$/.exec(line)?.[1];
    if (remote !== undefined && url !== undefined && !urls.has(remote)) urls.set(remote, url);
  }
  const [first] = urls.values();
  const url = urls.get('origin') ?? first ?? '';
  const host = HOST.exec(url)?.[0];
  if (host === undefined) return undefined;
  const path = url
    .slice(host.length)
    .replace(/\/$/, '')
    .replace(/\.git$/, '');
  return path.split('/').slice(-2).join('-');
}

function notConnected(file: string): ThroughlineError {
  return new ThroughlineError(
    'not_connected',
    `${file} is not used: you have not connected this project. Run "throughline connect" in ${dirname(file)} once, or name the session`,
  );
}

/**
 * Refuses a session name from an unconnected folder if it belongs to another project.
 *
 * @throws ThroughlineError `not_connected`
 */
function refuseOthers(session: Token, directory: string, stateDir: string): void {
  const others = connectedProjects(stateDir).filter((each) => projectOf(each.session) === session);
  const [other] = others;
  const real = realpathSync(directory);
  if (other === undefined || others.some(({ folder }) => `${real}${sep}`.startsWith(`${folder}${sep}`)))
    return;
  throw new ThroughlineError(
    'not_connected',
    `${directory} would use session ${session}, which belongs to ${other.folder}: run "throughline connect" here, or set THROUGHLINE_SESSION`,
  );
}

function changeOf(file: string, known: ConnectedProject): string | undefined {
  const given = projectSettings(file);
  const changes = (['session', 'project', 'plan', 'agents'] as const).flatMap((field) => {
    const [now, before] = [given[field], known[field]];
    return now === undefined || isDeepStrictEqual(now, before)
      ? []
      : [`${field} ${JSON.stringify(now)} (connected: ${JSON.stringify(before) ?? 'none'})`];
  });
  if (changes.length === 0) return undefined;
  return `${file} names ${changes.join(' and ')}, which is not used: run "throughline connect" to accept it`;
}

/** Returns true in a project that has a `.throughline.json`, connected or not. */
export function hasProjectFile(directory: string): boolean {
  return projectAt(directory).file !== undefined;
}

/** Finds the nearest `.throughline.json` up to the top of the git work tree, and that tree's `.git`. */
function projectAt(directory: string): { readonly file?: string; readonly git?: string } {
  let file: string | undefined;
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    const here = join(folder, PROJECT_FILE);
    // Includes links and pipes, which the read refuses.
    if (file === undefined && lstatSync(here, { throwIfNoEntry: false })?.isDirectory() === false)
      file = here;
    const git = join(folder, '.git');
    if (kindAt(git) !== undefined) return { git, ...(file !== undefined && { file }) };
    if (dirname(folder) === folder) return file === undefined ? {} : { file };
  }
}

/**
 * Reads a `.throughline.json`, or its text before it is written. The plan becomes a path relative to its folder.
 *
 * @throws ThroughlineError `config_invalid` that names the file, what is wrong and the fix
 */
export function projectSettings(file: string, text?: string): Partial<ProjectSettings> {
  const wrong = (what: string, cause?: unknown) =>
    new ThroughlineError('config_invalid', `${file}: ${what}`, { cause });
  const again = 'write {"session": "NAME"}, or remove the file and run "throughline connect" again';
  const read = text ?? readRegularFile(file, MAX_PROJECT_FILE);
  if (read === undefined) return {};
  if (typeof read === 'object' && 'fault' in read) throw wrong(`it ${read.fault}; ${again}`);
  let value: unknown;
  try {
    value = JSON.parse(read.toString());
  } catch (cause) {
    throw wrong(`${messageOf(cause)}; ${again}`, cause);
  }
  if (!isObject(value)) throw wrong('it is not a JSON object: write {"session": "NAME"}');
  const given: { -readonly [Field in keyof ProjectSettings]?: ProjectSettings[Field] } = {};
  for (const field of ['session', 'project', 'plan'] as const) {
    const text = value[field];
    if (text === undefined || text === null) continue;
    if (typeof text !== 'string') throw wrong(`${field} is ${JSON.stringify(text)}: write a text`);
    if (text !== '')
      given[field] = field === 'plan' ? relative(dirname(file), resolve(dirname(file), text)) : text;
  }
  const { agents } = value;
  if (agents === undefined || agents === null) return given;
  if (!isObject(agents)) throw wrong('agents is not an object: write {"NAME": "implementer"}');
  const roles: Record<string, string> = {};
  for (const [name, role] of Object.entries(agents)) {
    if (name === 'turns' && typeof role === 'boolean') roles[name] = String(role);
    else if (typeof role === 'string') roles[name] = role;
    else throw wrong(`agents.${name} is ${JSON.stringify(role)}: write a role`);
  }
  return { ...given, agents: roles };
}

/** Returns the current branch, if any. Reads the files, because starting git would take longer than everything else. */
function branchOf(git: string | undefined): string | undefined {
  if (git === undefined) return undefined;
  return /^ref: refs\/heads\/(\S+)/.exec(gitText(join(gitFolder(git), 'HEAD')))?.[1];
}

/** Returns the folder of `.git`. In a linked work tree or submodule, `.git` is a file with its path. */
function gitFolder(git: string): string {
  if (kindAt(git) === 'folder') return git;
  return resolve(
    dirname(git),
    gitText(git)
      .replace(/^gitdir:\s*/, '')
      .trim(),
  );
}

/**
 * Returns the `.git` folder that all work trees of a repository share. A `.git` file may come with an archive, so the
 * repository must name this work tree as well.
 */
function commonFolder(git: string): string | undefined {
  const own = gitFolder(git);
  if (own === git) return git;
  const common = gitText(join(own, 'commondir')).trim();
  const isLinked = common !== '' && resolve(own, gitText(join(own, 'gitdir')).trim()) === git;
  return isLinked ? resolve(own, common) : undefined;
}

function gitText(path: string): string {
  const read = readRegularFile(path, MAX_GIT_FILE);
  return read instanceof Buffer ? read.toString('utf8') : '';
}

function kindAt(path: string): 'file' | 'folder' | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return found.isDirectory() ? 'folder' : 'file';
}
