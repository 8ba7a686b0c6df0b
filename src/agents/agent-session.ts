import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { fileVersion } from '../config/ask-git.js';
import { stateDirOf } from '../config/config.js';
import {
  type ConnectedProject,
  connectedProject,
  connectedProjects,
  type ProjectSettings,
  pausedFolder,
} from '../config/connected-projects.js';
import { branchOf, gitAbove, kindAt, repositoryOf } from '../config/git-repository.js';
import { keptSession, newSession } from '../config/session-names.js';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import { projectOf, type Token } from '../contracts/names.js';
import { readRegularFile, textOrNone } from '../engine/files/user-state.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { defined } from '../shared/collections.js';
import { nearestName } from '../shared/nearest-name.js';
import { ifPossible, isObject, jsonOf, quoted } from '../shared/text.js';

export interface AgentSession {
  readonly session: Token;
  readonly project?: string;
  /** Absolute path of a `tasks.md`. */
  readonly plan?: string;
  /** Role of each agent, by its name; `main` is the agent that the user talks to. */
  readonly agents?: Readonly<Record<string, string>>;
  /** Id of the main agent's result, if the program that started the agent publishes that result too. */
  readonly resultId?: string;
  readonly branch?: string;
  /** Set if the session has the name of the remote or the folder: the user has neither named it nor connected the folder. */
  readonly isGuessed?: true;
  /** Set if turns that end without a result are not published: `agents.turns` is false. */
  readonly turns?: false;
  /** Set if agents are not asked for labelled lines: `agents.lines` is false. */
  readonly lines?: false;
  /** Set if hooks keep nothing here, since the user has paused the folder. */
  readonly isPaused?: true;
  /** Describes what is ignored in the `.throughline.json`: changes since it was connected, and unknown keys. */
  readonly changed?: string;
}

const PROJECT_FILE = '.throughline.json';

/** Size limit of a `.throughline.json`, in bytes. */
export const MAX_PROJECT_FILE = 64 * 1024;

/**
 * Returns the session of an agent, the first of these that exists: `THROUGHLINE_SESSION`, the session of the connected
 * project, the session that the repository has used before, a new one with the name of the git remote or of the folder. All
 * branches and work trees of a repository share one memory.
 *
 * A repository chooses its `.throughline.json`, remote and folder names, so none of them may select the session of another
 * repository.
 *
 * @param keep set by callers that use the memory: a guessed session belongs to the repository from then on
 * @throws ThroughlineError `config_invalid` for an invalid `.throughline.json`; `not_connected` for one in a folder that the user
 * has not connected, and for a new session that is the one of a connected folder
 */
export function agentSession(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly keep?: boolean;
}): AgentSession {
  const { env, directory, keep = false } = options;
  const { file, git } = projectAt(directory);
  const stateDir = stateDirOf(env);
  const known =
    file === undefined ? workTreeOf(stateDir, directory, git) : connectedProject(stateDir, dirname(file));
  const named = env.THROUGHLINE_SESSION || known?.session;
  if (named === undefined && file !== undefined)
    throw new ThroughlineError(
      'not_connected',
      `${file} is not used: you have not connected this project. Run "throughline connect" in ${dirname(file)} once, or name the session`,
    );
  const session = named === undefined ? guessedSession(stateDir, directory, git, keep) : projectOf(named);
  const project = env.THROUGHLINE_PROJECT || (known?.project ?? (named === undefined ? session : undefined));
  const { agents } = known ?? {};
  const top = git === undefined ? directory : dirname(git);
  // A session that is named elsewhere has its own plan.
  const plan = known === undefined && named !== undefined ? undefined : planOf(known, top, file);
  const branch = git === undefined ? undefined : branchOf(git);
  const changed = known && file && [changeOf(file, known), strayKeys(file)].filter(Boolean).join('; ');
  return {
    session,
    ...(pausedFolder(stateDir, directory) !== undefined && { isPaused: true as const }),
    ...(agents?.turns === 'false' && { turns: false as const }),
    ...(agents?.lines === 'false' && { lines: false as const }),
    ...(named === undefined && { isGuessed: true as const }),
    ...defined({ branch, project, plan, agents }),
    ...(env.THROUGHLINE_RESULT_ID && { resultId: env.THROUGHLINE_RESULT_ID }),
    ...(changed && { changed }),
  };
}

function guessedSession(stateDir: string, directory: string, git: string | undefined, keep: boolean): Token {
  const repository = repositoryOf(directory, git);
  const kept = keptSession(stateDir, repository);
  if (kept !== undefined) return kept;
  const session = newSession(stateDir, repository, false);
  refuseOthers(session, directory, stateDir);
  return keep ? newSession(stateDir, repository, true) : session;
}

/** Returns the session that `connect` proposes for a folder: the one that hooks use there without it. */
export function proposedSession(stateDir: string, directory: string): Token {
  const repository = repositoryOf(directory, gitAbove(directory));
  return keptSession(stateDir, repository) ?? newSession(stateDir, repository, false);
}

/** The project of a git work tree beside a connected one: `.throughline.json` need not be committed. */
function workTreeOf(stateDir: string, directory: string, git: string | undefined) {
  if (git === undefined || kindAt(git) !== 'file') return undefined;
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    const known = connectedProject(stateDir, folder);
    if (known !== undefined || folder === dirname(git)) return known;
  }
}

/** Returns the recorded plan, else the one that `plan follow` finds; a linked work tree falls back to that of the main one. */
function planOf(known: ConnectedProject | undefined, top: string, file: string | undefined) {
  const folder = file === undefined ? top : dirname(file);
  const main = known?.folder ?? folder;
  const plan = known?.plan ?? plainPlan(folder) ?? plainPlan(main);
  if (plan === undefined) return undefined;
  const here = join(folder, plan);
  return folder === main || kindAt(here) === 'file' ? here : join(main, plan);
}

export async function openOwnSession(
  { session, project, plan }: AgentSession,
  client: ThroughlineClient,
): Promise<boolean> {
  if (project !== undefined) await client.tools.sessionOpen({ session, project });
  if (plan !== undefined) await followOwnPlan(client, session, plan);
  return project !== undefined || plan !== undefined;
}

/** Has a session follow the plan of its folder. Throws as `runInit` and `planAt`. */
export async function followOwnPlan(client: ThroughlineClient, session: string, plan: string): Promise<void> {
  // Only a few hooks need it.
  const { planAt } = await import('../engine/files/local-tasks-file.js');
  await client.runs.init({ session, version: fileVersion(plan), ...planAt(plan) });
}

/** Usual locations of plans below a folder; `*` is any folder. */
export const PLAN_PLACES = [
  '.kiro/specs/*/tasks.md',
  'specs/*/tasks.md',
  '.spec-workflow/specs/*/tasks.md',
  'openspec/changes/*/tasks.md',
  'tasks.md',
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
  return ifPossible(() => readdirSync(folder)) ?? [];
}

/** Refuses a session name from an unconnected folder if it belongs to another project. Throws `not_connected`. */
function refuseOthers(session: Token, directory: string, stateDir: string): void {
  const others = connectedProjects(stateDir).filter((project) => projectOf(project.session) === session);
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
  const changes = KEYS.flatMap((field) => {
    const [now, before] = [given[field], known[field]];
    return now === undefined || isDeepStrictEqual(now, before)
      ? []
      : [`${field} ${JSON.stringify(now)} (connected: ${JSON.stringify(before) ?? 'none'})`];
  });
  if (changes.length === 0) return undefined;
  return `${file} names ${changes.join(' and ')}, which is not used: run "throughline connect" to accept it`;
}

const KEYS = ['session', 'project', 'plan', 'agents'] as const;

/** Names the keys of a `.throughline.json` that have no effect, each with the one that is probably meant. */
export function strayKeys(file: string, text = textOrNone(file, MAX_PROJECT_FILE)): string | undefined {
  const value = jsonOf(text);
  const stray = Object.keys(isObject(value) ? value : {}).filter(
    (key) => !KEYS.some((known) => known === key),
  );
  if (stray.length === 0) return undefined;
  const named = stray.map((key) => {
    const near = nearestName(key, KEYS);
    return `${quoted(key)}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
  });
  return `${file} has ${named.join(', ')}, which has no effect`;
}

export function hasProjectFile(directory: string): boolean {
  return projectAt(directory).file !== undefined;
}

/** Finds the nearest `.throughline.json` up to the top of the git work tree, and that tree's `.git`. */
function projectAt(directory: string): { readonly file?: string; readonly git?: string } {
  const git = gitAbove(directory);
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    const here = join(folder, PROJECT_FILE);
    // Includes links and pipes, which the read refuses.
    const isThere = lstatSync(here, { throwIfNoEntry: false })?.isDirectory() === false;
    const isTop = dirname(folder) === folder || (git !== undefined && folder === dirname(git));
    if (isThere || isTop) return { ...(isThere && { file: here }), ...(git !== undefined && { git }) };
  }
}

/**
 * Reads a `.throughline.json`, or its text before it is written. The plan becomes a path relative to its folder. Throws
 * `config_invalid` that names the file, what is wrong and the fix.
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
    if ((name === 'turns' || name === 'lines') && typeof role === 'boolean') roles[name] = String(role);
    else if (typeof role === 'string') roles[name] = role;
    else throw wrong(`agents.${name} is ${JSON.stringify(role)}: write a role`);
  }
  return { ...given, agents: roles };
}
