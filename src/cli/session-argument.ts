import { userInfo } from 'node:os';
import type { Command } from 'commander';
import picocolors from 'picocolors';
import { hasProjectFile } from '../agents/agent-session.js';
import type { Config } from '../config/config.js';
import { codeOf, messageOf, noSuchSession, ThroughlineError } from '../contracts/errors.js';
import { projectOf, type Token } from '../contracts/names.js';
import { counted } from '../shared/text.js';
import { type Cli, coloured, note, sessionHere, sessionOf } from './command-context.js';
import type { Colors } from './show-learning.js';

/** For a command that reads a session: its name as an argument, or as an option. */
export function onSession(command: Command): Command {
  return command
    .argument('[session]', 'the session (default: THROUGHLINE_SESSION, else .throughline.json)')
    .option('-s, --session <name>', 'the same as an option');
}

/** The session that such a command works on. */
export function sessionGiven(cli: Cli, command: Command): Token {
  const [argument] = command.args;
  const { session } = command.opts<{ session?: string }>();
  if (argument !== undefined && session !== undefined && argument !== session) {
    throw new ThroughlineError(
      'usage',
      `which session, ${argument} or ${session}? Give it as an argument or by --session, not both`,
    );
  }
  return argument === undefined ? sessionOf(cli, session) : sessionOf(cli, argument, 'session');
}

/**
 * For a command that reads a session: one without events does not exist.
 *
 * @throws ThroughlineError `not_found`
 */
export function requireEvents(session: Token, sequence: number): void {
  if (sequence > 0) return;
  throw new ThroughlineError('not_found', noSuchSession(session));
}

/** Options of all commands on the learnings of a project. */
export interface ProjectOptions {
  readonly project?: string;
  readonly by?: string;
  readonly json?: boolean;
}

/** Adds the options that say which project. */
export function onProject(command: Command): Command {
  return command
    .option(
      '--project <name>',
      'project (default: THROUGHLINE_PROJECT, else that of .throughline.json, else default)',
    )
    .option('--json', 'print the whole reply as JSON');
}

/** Adds the options of a command that changes something. */
export function deciding(command: Command): Command {
  return onProject(command).option('--by <name>', 'who decides (default: your user name)');
}

/** The project where none is named: in a connected folder the one whose learnings its agents use. */
function usualProject(cli: Cli): string | undefined {
  if (cli.config.project !== undefined) return cli.config.project;
  const known = projectsHere.get(cli.config) ?? { project: projectOfFolder(cli) };
  projectsHere.set(cli.config, known);
  return known.project;
}

/** Looked up once a command, so that a remark is made once. */
const projectsHere = new WeakMap<Config, { readonly project: string | undefined }>();

function projectOfFolder(cli: Cli): string | undefined {
  if (!hasProjectFile(process.cwd())) return undefined;
  try {
    return sessionHere(cli).project;
  } catch (error) {
    if (codeOf(error) !== 'not_connected') throw error;
    note(`-- ${messageOf(error)}`);
    return undefined;
  }
}

/** The project that a command works on, as a request says it. */
export function projectIn(cli: Cli, { project = usualProject(cli) }: ProjectOptions): { project?: string } {
  return project === undefined ? {} : { project };
}

/** ` --project NAME`, for a hint that must lead to the same project; empty for the default one. */
export function projectOption(cli: Cli, project: string): string {
  return project === projectOf(usualProject(cli)) ? '' : ` --project ${project}`;
}

/** What a given name became, where that is not plain: the name that answers and subjects have; otherwise nothing. */
export function projectTaken(given: string | undefined): string[] {
  if (given === undefined) return [];
  const project = projectOf(given);
  return project === given
    ? []
    : [`-- the project is ${project}: ${JSON.stringify(given)} is kept under this name`];
}

/** Who decides, as a request says it. */
export function deciderIn({ by }: ProjectOptions): { by?: string } {
  const name = by ?? userName();
  return name === undefined ? {} : { by: name };
}

/** In a container a process may run under a number that no user has. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** How the next page is asked for; empty where there is none. */
export function nextPage(next: string | undefined): string {
  return next === undefined ? '' : `\n-- there are more: --page ${next} shows the next`;
}

/** `12 learnings`, or `200 of 5000 learnings` where a limit left some out. */
export function shownOf(shown: number, total: number, what: string): string {
  return shown === total ? counted(total, what) : `${shown} of ${counted(total, what)}`;
}

/** The colours that answers have: none in a pipe. */
export function coloursOf(cli: Cli): Colors {
  return picocolors.createColors(coloured(cli));
}
