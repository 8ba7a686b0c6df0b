import { agentSession, hasProjectFile } from '../agents/agent-session.js';
import { type Config, loadConfig, stateDirOf, unknownVariables, VARIABLES } from '../config/config.js';
import { connectedProjects } from '../config/connected-projects.js';
import { LOG_LEVELS } from '../config/settings.js';
import { serverInUse } from '../config/user-server.js';
import { noSuchSession, ThroughlineError, usageError } from '../contracts/errors.js';
import { type Token, token } from '../contracts/names.js';
import type { Logger } from '../engine/ports/logger-and-clock.js';
import type { NatsConnection } from '../nats/connection/connect-nats.js';
import type { Persistence } from '../sdk/keep-trying.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { onceForEach } from '../shared/collections.js';
import { isSlipOf, nearestName } from '../shared/nearest-name.js';
import type { Cli, Command } from './cli-command.js';
import { note } from './output.js';

export type { Cli } from './cli-command.js';
export { note, out, outForAgent } from './output.js';

/** Shared by all commands. Modules that only some need are loaded by those commands. */

export function cliOf(command: Command): Cli {
  const config = loadConfig();
  for (const name of unknownVariables(config.env)) {
    const meant = nearestName(name, VARIABLES);
    const hint = meant === undefined ? 'see docs/reference/configuration.md' : `did you mean ${meant}?`;
    note(`-- ${name} is not a recognized variable, so it changes nothing: ${hint}`);
  }
  return { config, logger: commandLogger(config), ...serverOf(command, config) };
}

/** The server in use now, which changes with `throughline team`, and how it is started. */
export function serverOf(command: Command, config: Config): Pick<Cli, 'server' | 'autostart'> {
  const options = command.optsWithGlobals<{ nats?: string }>();
  const named = { nats: options.nats, natsUrl: config.natsUrl };
  const server = serverInUse(stateDirOf(config.env), { ...named, directory: process.cwd() });
  const autostart = async () => {
    note('-- no server is running: starting one in the background; "throughline down" stops it');
    return (await import('./detached-up.js')).startUserServer(config, (line) => note(`-- ${line}`));
  };
  const mayStart = server.kind === 'own' && config.autostart === '1';
  return { server, ...(mayStart && { autostart }) };
}

/**
 * True if output is coloured: on a terminal, or anywhere if `FORCE_COLOR` is set to anything but 0. Otherwise pipes are
 * never coloured, not even on a CI machine. `NO_COLOR` overrides both.
 */
export function coloured({ config }: Cli): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = config.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0';
  return process.stdout.isTTY === true && TERM !== 'dumb';
}

export async function withConnection<T>(cli: Cli, work: (connection: NatsConnection) => Promise<T>) {
  const { closeConnection, openConnection } = await import('./open-client.js');
  const connection = await openConnection(cli);
  try {
    return await work(connection);
  } finally {
    await closeConnection(connection);
  }
}

export async function withClient<T>(
  cli: Cli,
  work: (client: ThroughlineClient) => Promise<T>,
  tries?: Persistence,
): Promise<T> {
  const { openClient } = await import('./open-client.js');
  const client = await openClient(cli, tries);
  try {
    return await work(client);
  } catch (error) {
    throw (await withNearSession(cli, error, client)) ?? error;
  } finally {
    await client.close();
  }
}

const LOOKED_AT = 200;

/** Says of a session that does not exist that it is connected, or which one has a similar name. */
async function withNearSession({ config }: Cli, error: unknown, { tools }: ThroughlineClient) {
  if (!(error instanceof ThroughlineError) || error.code !== 'not_found') return undefined;
  const { session: name, asOf } = error.details ?? {};
  // A session may exist, and its older events be gone.
  if (typeof name !== 'string' || asOf !== undefined) return undefined;
  if (connectedProjects(stateDirOf(config.env)).some(({ session }) => session === name))
    return new ThroughlineError('not_found', `session ${name} is connected; nothing stored yet`);
  if (/^(?:tas-|t)?\d+$/i.test(name))
    return noSuchSession(name, `for a task, use "throughline status --task ${name}"`);
  const names = await newestSessions(tools);
  const near = nearestName(name, names) ?? names.find((other) => other.startsWith(name));
  return near === undefined ? undefined : noSuchSession(name, `did you mean ${near}?`);
}

async function newestSessions(tools: ThroughlineClient['tools']): Promise<string[]> {
  const reply = await tools.sessionList({ brief: true, limit: LOOKED_AT }).catch(() => undefined);
  return reply?.sessions.map(({ session }) => session) ?? [];
}

/**
 * Says that a session begins whose name is that of another one but for a letter. Names that differ in their numbers are meant.
 *
 * @param isNew false where that is not known
 */
export async function noteIfMisspelled(session: string, { tools }: ThroughlineClient, isNew = false) {
  const names = await newestSessions(tools);
  const letters = (name: string) => name.replace(/\d/g, '');
  const near = names.find((name) => isSlipOf(session, name) && letters(session) !== letters(name));
  const isSurelyNew = isNew || (names.length < LOOKED_AT && !names.includes(session));
  if (near !== undefined && isSurelyNew) note(`-- session ${session} is new: did you mean ${near}?`);
}

/**
 * The session that a command works on: the option `flag`, else `THROUGHLINE_SESSION`, else in a project that is connected
 * that of its agents.
 */
export function sessionOf(cli: Cli, given: string | undefined, flag = '--session'): Token {
  const session = given ?? cli.config.session;
  if (session !== undefined) return token(session, given === undefined ? 'THROUGHLINE_SESSION' : flag);
  if (hasProjectFile(process.cwd())) return sessionHere(cli.config).session;
  throw usageError(`no session is named: give ${flag} NAME, or set THROUGHLINE_SESSION`);
}

/** Returns the connected session of this folder, looked up once; prints a note if its `.throughline.json` names another. */
export const sessionHere = onceForEach((config: Config) => {
  const found = agentSession({ env: config.env, directory: process.cwd() });
  if (found.changed !== undefined) note(`-- ${found.changed}`);
  return found;
});

/**
 * The log of a command that runs to its end: lines for people. What else the fields say may come from anywhere, and is
 * left to the logs of services, which take secrets out.
 */
export function commandLogger({ logLevel }: Pick<Config, 'logLevel'>, write = note): Logger {
  const least = LOG_LEVELS.indexOf(logLevel);
  const at = (level: Exclude<(typeof LOG_LEVELS)[number], 'silent' | 'trace'>) => {
    if (LOG_LEVELS.indexOf(level) < least) return () => {};
    return (fields: object, message: string) => {
      const place =
        'session' in fields
          ? `session ${fields.session}: `
          : 'service' in fields
            ? `${fields.service}: `
            : '';
      write(`-- ${place}${message}${'code' in fields ? ` (${fields.code})` : ''}`);
    };
  };
  return {
    ...(LOG_LEVELS.indexOf('debug') >= least && { debug: at('debug') }),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
}
