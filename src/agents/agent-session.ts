import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { messageOf, systemCode, ThroughlineError } from '../contracts/errors.js';
import { projectOf, type Token } from '../contracts/names.js';
import { isObject } from '../shared/is-object.js';

/** Which session, project and plan an agent works on. */
export interface AgentSession {
  readonly session: Token;
  /** As it is given; left out where none is. */
  readonly project?: string;
  /** Absolute path of a `tasks.md`. */
  readonly plan?: string;
  /** Role of each agent, by its name; `main` is the agent that the user talks to. */
  readonly agents?: Readonly<Record<string, string>>;
  /** The id of the result of the agent that the user talks to, where what has started it publishes that result as well. */
  readonly resultId?: string;
}

interface Where {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute: where the agent works. */
  readonly directory: string;
}

/** What `throughline connect` writes at the top of a project. */
export const PROJECT_FILE = '.throughline.json';

/**
 * The session is the first of these that is there: `THROUGHLINE_SESSION`, the `.throughline.json` of the project, its git
 * branch, the name of its folder. It is cleaned as a project's name is, so that `feature/login` becomes `feature-login`.
 *
 * @throws ThroughlineError `config_invalid` for a `.throughline.json` that cannot be used
 */
export function agentSession({ env, directory }: Where): AgentSession {
  const { file, git } = projectAt(directory);
  const given = file === undefined ? {} : readProject(file);
  const { plan, agents } = given;
  const project = env.THROUGHLINE_PROJECT || given.project;
  const name =
    env.THROUGHLINE_SESSION || given.session || branchOf(git) || basename(git ? dirname(git) : directory);
  return {
    session: projectOf(name),
    ...(project !== undefined && { project }),
    ...(plan !== undefined &&
      file !== undefined && { plan: isAbsolute(plan) ? plan : join(dirname(file), plan) }),
    ...(agents !== undefined && { agents }),
    ...(env.THROUGHLINE_RESULT_ID && { resultId: env.THROUGHLINE_RESULT_ID }),
  };
}

/** Whether a folder is in a project that has a `.throughline.json`. */
export function isConnected(directory: string): boolean {
  return projectAt(directory).file !== undefined;
}

/** The nearest `.throughline.json` from a folder up to the top of its git work tree, and that tree's `.git`. */
function projectAt(directory: string): { readonly file?: string; readonly git?: string } {
  let file: string | undefined;
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    const here = join(folder, PROJECT_FILE);
    if (file === undefined && kindAt(here) === 'file') file = here;
    const git = join(folder, '.git');
    if (kindAt(git) !== undefined) return { git, ...(file !== undefined && { file }) };
    if (dirname(folder) === folder) return file === undefined ? {} : { file };
  }
}

interface GivenProject {
  session?: string;
  project?: string;
  plan?: string;
  agents?: Record<string, string>;
}

function readProject(file: string): GivenProject {
  const wrong = (what: string, cause?: unknown) =>
    new ThroughlineError('config_invalid', `${file}: ${what}`, { cause });
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw wrong(
      `${messageOf(cause)}; write {"session": "NAME"}, or remove the file and run "throughline connect" again`,
      cause,
    );
  }
  if (!isObject(value)) throw wrong('it is not a JSON object: write {"session": "NAME"}');
  const given: GivenProject = {};
  for (const field of ['session', 'project', 'plan'] as const) {
    const text = value[field];
    if (text === undefined || text === null) continue;
    if (typeof text !== 'string') throw wrong(`${field} is ${JSON.stringify(text)}: write a text`);
    if (text !== '') given[field] = text;
  }
  const { agents } = value;
  if (agents === undefined || agents === null) return given;
  if (!isObject(agents)) throw wrong('agents is not an object: write {"NAME": "implementer"}');
  given.agents = {};
  for (const [name, role] of Object.entries(agents)) {
    if (typeof role !== 'string') throw wrong(`agents.${name} is ${JSON.stringify(role)}: write a role`);
    given.agents[name] = role;
  }
  return given;
}

/** The branch that is checked out; undefined without one. Read from the files: to start git takes longer than all else. */
function branchOf(git: string | undefined): string | undefined {
  if (git === undefined) return undefined;
  try {
    // A work tree of its own, or a submodule, has a file that says where its folder is.
    const folder =
      kindAt(git) === 'folder'
        ? git
        : resolve(
            dirname(git),
            readFileSync(git, 'utf8')
              .replace(/^gitdir:\s*/, '')
              .trim(),
          );
    return /^ref: refs\/heads\/(\S+)/.exec(readFileSync(join(folder, 'HEAD'), 'utf8'))?.[1];
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function kindAt(path: string): 'file' | 'folder' | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return found.isDirectory() ? 'folder' : 'file';
}
