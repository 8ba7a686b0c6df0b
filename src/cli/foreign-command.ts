import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { codeOf, noSuchSession, ThroughlineError } from '../contracts/errors.js';
import { sessionOfSubject, token } from '../contracts/names.js';
import { streamOf } from '../contracts/session-layout.js';
import { removeForeign } from '../nats/foreign/remove-foreign.js';
import {
  type ForeignMessage,
  foreignIn,
  type Scanned,
  scannedStreams,
} from '../nats/foreign/scan-foreign.js';
import type { NatsPorts } from '../nats/open-nats.js';
import { counted } from '../shared/counted.js';
import { oneLine } from '../shared/text.js';
import { type Cli, cliOf, examples, note, out, withNats } from './command-context.js';

interface ForeignOptions {
  readonly session?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function foreignCommand(program: Command): void {
  const foreign = program
    .command('foreign')
    .description(
      'NATS does not check the reply subject of a request: a user who may ask for something can have the answer\n' +
        'stored in any stream that takes that subject. Such messages count nowhere. They take space until you remove them.',
    )
    .addHelpText('after', examples('throughline foreign ls', 'throughline foreign rm --yes'));

  foreign
    .command('ls')
    .description('Reads all streams and lists their foreign messages.')
    .option('-s, --session <name>', 'only what is stored under this session')
    .option('--json', 'one JSON array of {stream, sequence, subject, bytes, what}')
    .addHelpText('after', examples('throughline foreign ls', 'throughline foreign ls --session demo --json'))
    .action(async (options: ForeignOptions, command: Command) => {
      const cli = cliOf(command);
      const found: ForeignMessage[] = [];
      const listed = await withNats(cli, (nats) =>
        eachStream(cli, nats, options, async (_, messages) => {
          for (const message of messages) {
            if (options.json) found.push(message);
            else out(line(message));
          }
          return messages.length;
        }),
      );
      if (options.json) return out(JSON.stringify(found));
      note(`-- ${counted(listed, 'foreign message')}`);
    });

  foreign
    .command('rm')
    .description(
      'Asks, then removes them. The user needs the right to $JS.API.STREAM.MSG.DELETE.<stream>, and for buckets to\n' +
        '$JS.API.STREAM.PURGE.<stream>. No role of "throughline permissions" has these rights.\n' +
        'The last message of a session stays until an event follows it.',
    )
    .option('-s, --session <name>', 'only what is stored under this session')
    .option('--yes', 'do not ask')
    .option('--json', 'one JSON line for each removed message')
    .addHelpText('after', examples('throughline foreign rm', 'throughline foreign rm --session demo --yes'))
    .action(async (options: ForeignOptions, command: Command) => {
      const cli = cliOf(command);
      const left: ForeignMessage[] = [];
      const removed = await withNats(cli, async (nats) => {
        const jsm = await nats.connection.jetstreamManager({ checkAPI: false });
        return eachStream(cli, nats, options, async (stream, messages) => {
          if (options.yes !== true && !(await agreed(stream, messages))) return 0;
          const gone = await removeForeign({ ...nats, jsm }, stream, messages);
          left.push(...messages.filter((message) => !gone.includes(message)));
          for (const message of gone)
            out(options.json ? JSON.stringify(message) : `removed ${line(message)}`);
          return gone.length;
        });
      });
      if (options.json) return;
      for (const message of left) note(`-- kept, since no event follows it yet: ${line(message)}`);
      note(`-- ${counted(removed, 'foreign message')} removed`);
    });
}

/** Passes the foreign messages to `work`, stream by stream, and gives the sum of its results. */
async function eachStream(
  { config }: Cli,
  nats: NatsPorts,
  { session }: ForeignOptions,
  work: (stream: string, messages: readonly ForeignMessage[]) => Promise<number>,
): Promise<number> {
  const of = session === undefined ? undefined : token(session, '--session');
  const only = of && streamOf(nats.layout, of);
  const isMeant = ({ subject }: ForeignMessage) =>
    of === undefined || nats.layout.layout === 'per-session' || sessionOfSubject(subject) === of;
  const { connection, rejected } = nats;
  const timeoutMs = config.requestTimeoutMs;
  const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
  const scanned: Scanned = { connection, jsm, rejected, timeoutMs };
  const streams = await scannedStreams(jsm);
  const chosen = only === undefined ? streams : streams.filter(({ config }) => config.name === only);
  if (of !== undefined && chosen.length === 0) throw new ThroughlineError('not_found', noSuchSession(of));
  let sum = 0;
  for (const stream of chosen) {
    const { name } = stream.config;
    const found: ForeignMessage[] = [];
    try {
      for await (const message of foreignIn(scanned, stream))
        if (isMeant(message) && message.version === undefined) found.push(message);
    } catch (error) {
      if (codeOf(error) !== 'permission_denied') throw error;
      note(`-- ${name} was skipped: this user may not read it`);
    }
    if (found.length > 0) sum += await work(name, found);
  }
  return sum;
}

async function agreed(stream: string, messages: readonly ForeignMessage[]): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new ThroughlineError(
      'usage',
      'there is no terminal to ask on: add --yes; "foreign ls" shows what would be removed',
    );
  }
  for (const message of messages.slice(0, SHOWN)) note(line(message));
  if (messages.length > SHOWN) note(`… ${messages.length - SHOWN} more`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const said = await terminal.question(
      `Remove ${counted(messages.length, 'message')} of ${stream}? [y/N] `,
    );
    return /^y(es)?$/i.test(said.trim());
  } finally {
    terminal.close();
  }
}

/** Messages of a stream that are shown before asking. */
const SHOWN = 20;

function line({ stream, sequence, subject, bytes, what }: ForeignMessage): string {
  return oneLine(`${stream} ${sequence}  ${subject}  ${bytes} bytes  ${what}`);
}
