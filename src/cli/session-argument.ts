import { hasProjectFile, openOwnSession } from '../agents/agent-session.js';
import type { Config } from '../config/config.js';
import { codeOf, messageOf, noSuchSession, ThroughlineError, usageError } from '../contracts/errors.js';
import { projectOf, type Token, token } from '../contracts/names.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { onceForEach } from '../shared/collections.js';
import { counted } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import {
  type Cli,
  cliOf,
  note,
  noteIfMisspelled,
  sessionHere,
  sessionOf,
  withClient,
} from './command-context.js';

export const SESSION_DEFAULT = '(default: THROUGHLINE_SESSION, else .throughline.json, else the only one)';

export function onSession(command: Command): Command {
  return command
    .argument('[session]', `the session ${SESSION_DEFAULT}`)
    .option('-s, --session <name>', 'the same as an option');
}

/** Returns the session that a command works on. @param asArgument false where only the option names it */
export function sessionGiven(cli: Cli, command: Command, asArgument = true): Token {
  const argument = asArgument ? command.args[0] : undefined;
  const { session } = command.optsWithGlobals<{ session?: string }>();
  if (argument !== undefined && session !== undefined && argument !== session) {
    throw usageError(
      `which session, ${argument} or ${session}? Give it as an argument or by --session, not both`,
    );
  }
  return argument === undefined ? sessionOf(cli, session) : sessionOf(cli, argument, 'session');
}

/** Returns the session that a command names or uses by default; undefined where there is none. */
export function sessionIfAny(cli: Cli, command: Command, asArgument = true): Token | undefined {
  const { session } = command.optsWithGlobals<{ session?: string }>();
  const isNamed = (asArgument && command.args.length > 0) || session !== undefined;
  const hasDefault = cli.config.session !== undefined || hasProjectFile(process.cwd());
  return isNamed || hasDefault ? sessionGiven(cli, command, asArgument) : undefined;
}

/**
 * Returns the session that a command works on, as `sessionGiven` does; without a name the only one there is.
 *
 * @throws ThroughlineError `usage` if none is named and there is not exactly one
 */
export async function usualSession(cli: Cli, command: Command, asArgument = true): Promise<Token> {
  const named = sessionIfAny(cli, command, asArgument);
  if (named !== undefined) return named;
  const { sessions, total } = await withClient(cli, ({ tools }) =>
    tools.sessionList({ brief: true, limit: NAMED }).catch(refusedAll),
  );
  const [only] = sessions;
  if (only !== undefined && total === 1) return token(only.session, 'session');
  const names = sessions.map(({ session }) => session).join(', ');
  const more = total > sessions.length ? ` and ${total - sessions.length} more` : '';
  const there = total === 0 ? 'there is none yet' : `there are ${names}${more}`;
  throw usageError(`no session is named: give --session NAME, or set THROUGHLINE_SESSION; ${there}`);
}

/** Throws the error of a list of all sessions. @throws ThroughlineError `permission_denied`, with the way of a bound user */
export function refusedAll(error: unknown): never {
  if (codeOf(error) !== 'permission_denied') throw error;
  const message = `${messageOf(error)}; a user who is bound to sessions gives --session`;
  throw new ThroughlineError('permission_denied', message);
}

const NAMED = 5;

export async function sessionFor(command: Command, asArgument = true): Promise<{ cli: Cli; session: Token }> {
  const cli = cliOf(command);
  return { cli, session: await usualSession(cli, command, asArgument) };
}

/**
 * For a command that reads a session: one without events does not exist.
 *
 * @throws ThroughlineError `not_found`
 */
export function requireEvents(session: Token, sequence: number): void {
  if (sequence === 0) throw noSuchSession(session);
}

export type ProjectOptions = Flags<'json'> & Texts<'project'>;

export function onProject(command: Command): Command {
  return command
    .option(
      '--project <name>',
      'project (default: THROUGHLINE_PROJECT, otherwise the project in .throughline.json, otherwise default)',
    )
    .option('--json', 'print the whole reply as JSON');
}

/** The project where none is named: in a connected folder the one whose learnings its agents use. */
function usualProject({ config }: Cli): string | undefined {
  return config.project ?? folderSession(config)?.project;
}

/** Returns the session of a connected folder; undefined elsewhere. Looked up once a command, so that a remark is made once. */
export const folderSession = onceForEach((config: Config) => {
  if (!hasProjectFile(process.cwd())) return undefined;
  try {
    return sessionHere(config);
  } catch (error) {
    if (codeOf(error) !== 'not_connected') throw error;
    note(`-- ${messageOf(error)}`);
    return undefined;
  }
});

export function projectIn(cli: Cli, { project = usualProject(cli) }: ProjectOptions): { project?: string } {
  return project === undefined ? {} : { project };
}

/**
 * Gives a session that a command begins in a connected folder the folder's project; the folder's own session its plan, too.
 * Returns false if it did nothing.
 */
export async function openInFolder({ config }: Cli, session: Token, client: ThroughlineClient) {
  const found = folderSession(config);
  if (found === undefined || (await client.runs.status({ session })).sequence > 0) return false;
  const { plan, ...others } = found;
  await openOwnSession({ ...others, session, ...(plan && session === found.session && { plan }) }, client);
  note(`-- created session ${session} of project ${found.project}`);
  if (session !== found.session) await noteIfMisspelled(session, client, true);
  return true;
}

/** ` --project NAME`, for a hint that must lead to the same project; empty for the default one. */
export function projectOption(cli: Cli, project: string): string {
  return project === projectOf(usualProject(cli)) ? '' : ` --project ${project}`;
}

export function noteProject(given: string | undefined): void {
  const project = given === undefined ? undefined : projectOf(given);
  if (project !== given)
    note(`-- the project is ${project}: ${JSON.stringify(given)} is kept under this name`);
}

export function noteIfEmpty(project: string | undefined, sessions: number): void {
  if (project !== undefined && sessions === 0) note(`-- no session belongs to project ${projectOf(project)}`);
}

export function shownOf(shown: number, total: number, what: string): string {
  return shown === total ? counted(total, what) : `${shown} of ${counted(total, what)}`;
}
