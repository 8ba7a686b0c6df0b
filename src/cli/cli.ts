import { type Command, InvalidArgumentError } from 'commander';
import { type DestinationStream, pino } from 'pino';
import { ThroughlineClient } from '../client/client.js';
import { type Config, loadConfig, strangeVariables } from '../config.js';
import { type Token, token } from '../contracts/names.js';
import { ThroughlineError } from '../errors.js';
import { natsOptions } from '../main.js';
import { natsTransport } from '../nats/client-transport.js';
import { connectNats } from '../nats/connection.js';
import { type Made, type NatsPorts, openNats } from '../nats/open.js';
import type { Logger } from '../ports/logger.js';
import { redactLine } from '../redaction/redactor.js';
import { secretlintScanner } from '../secretlint/scanner.js';
import { visible, visibleInColour } from '../terminal-text.js';

/** What every command has at hand. Answers go to standard output, everything else to standard error. */

export const DEFAULT_URL = 'nats://127.0.0.1:4222';

export interface Cli {
  readonly config: Config;
  readonly logger: Logger;
  /** The server to use: `--nats`, else `NATS_URL`, else the default one of `throughline up`. */
  readonly url: string;
}

/** Reads configuration and the options that all commands share. */
export function cliOf(command: Command): Cli {
  const config = loadConfig();
  for (const name of strangeVariables(config.env)) {
    note(
      `-- ${name} is no variable of ours, so it changes nothing: README.md, "Configuration", lists those that are`,
    );
  }
  const options = command.optsWithGlobals<{ nats?: string }>();
  return { config, logger: loggerFor(config), url: options.nats ?? config.natsUrl ?? DEFAULT_URL };
}

/** JSON lines on standard error, without secrets: what errors quote may come from anywhere. */
export function loggerFor(config: Config, destination: DestinationStream = standardError()): Logger {
  // Whatever events may hold: a log is read by others.
  const secrets = secretlintScanner();
  const streamWrite = (line: string) => visible(redactLine(line, secrets));
  return pino({ level: config.logLevel, base: {}, hooks: { streamWrite } }, destination);
}

/** Kept while standard error takes nothing, in bytes. */
const MAX_UNWRITTEN = 1024 * 1024;

/** A log that cannot be written, to a full disk or a closed terminal, loses its lines; it must not stop the work. */
function standardError(): DestinationStream {
  return pino.destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN }).on('error', () => {});
}

/** Writes an answer, made visible as everything that is printed. `inColour`: the command has set colours in it. */
export function out(text: string, inColour = false): void {
  write(inColour ? visibleInColour(text) : visible(text));
}

/** Writes a prompt, which is for an agent: byte for byte into a file or a pipe, made visible on a terminal. */
export function outForAgent(text: string): void {
  write(process.stdout.isTTY ? visible(text) : text);
}

function write(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/**
 * Whether answers are coloured: on a terminal, or where `FORCE_COLOR` says so; never in a pipe otherwise, not even on
 * a CI machine, nor where `NO_COLOR` is set.
 */
export function coloured({ config }: Cli): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = config.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0';
  return process.stdout.isTTY === true && TERM !== 'dumb';
}

export function note(text: string): void {
  process.stderr.write(`${visible(text)}\n`);
}

/**
 * Connects with all ports, and closes again whatever happens. Streams and bucket are made only by who writes there:
 * looking needs no right to.
 */
export async function withNats<T>(
  cli: Cli,
  work: (nats: NatsPorts) => Promise<T>,
  makes: readonly Made[] = [],
): Promise<T> {
  const options = natsOptions(cli.url, 'throughline cli', cli.config, cli.logger);
  const nats = await openNats({ ...options, makes });
  try {
    return await work(nats);
  } finally {
    await nats.close();
  }
}

/** Connects as a client of the services, and closes again whatever happens. */
export async function withClient<T>(cli: Cli, work: (client: ThroughlineClient) => Promise<T>): Promise<T> {
  const { access, requestTimeoutMs, afterTimeoutMs } = cli.config;
  const connection = await connectNats({
    url: cli.url,
    name: 'throughline cli',
    access,
    logger: cli.logger,
  });
  // A request with `after` is answered only when the wait is over.
  const timeoutMs = requestTimeoutMs + afterTimeoutMs;
  const client = new ThroughlineClient(natsTransport(connection, requestTimeoutMs), { timeoutMs });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** The session that a command works on: the option `flag`, else `THROUGHLINE_SESSION`. */
export function sessionOf(cli: Cli, given: string | undefined, flag = '--session'): Token {
  const session = given ?? cli.config.session;
  if (session !== undefined) return token(session, given === undefined ? 'THROUGHLINE_SESSION' : flag);
  throw new ThroughlineError('usage', `which session? Give ${flag} NAME, or set THROUGHLINE_SESSION`);
}

/** Tells who reads a session that does not exist, which is as empty as a new one, that the name may be wrong. */
export function noteWhereEmpty(session: string, sequence: number): void {
  if (sequence === 0) note(`-- session ${session} has no events: is its name right?`);
}

/** Parser of a whole number in an option. */
export function wholeNumber(low: number, high = Number.MAX_SAFE_INTEGER): (raw: string) => number {
  return (raw) => {
    const value = Number(raw);
    if (/^\d+$/.test(raw) && value >= low && value <= high) return value;
    const range = high === Number.MAX_SAFE_INTEGER ? `of at least ${low}` : `from ${low} to ${high}`;
    throw new InvalidArgumentError(`Use a whole number ${range}.`);
  };
}

/** Text for `addHelpText('after', …)`. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;
}
