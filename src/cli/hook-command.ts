import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { withoutPrivate } from '../agents/hooks/hook-call.js';
import { logHook } from '../agents/hooks/hook-state.js';
import { HOOK_CLIENTS, hookClient } from '../agents/hooks/hook-table.js';
import { runHook } from '../agents/hooks/run-hook.js';
import { spoolCounts, spoolOf } from '../agents/hooks/spool.js';
import { type Config, givenVariables, loadConfig, stateDirOf } from '../config/config.js';
import { pausedFolder } from '../config/connected-projects.js';
import { personName } from '../config/person-name.js';
import { installationKey, serverInUse, serverText } from '../config/user-server.js';
import { messageOf, usageError } from '../contracts/errors.js';
import type { Command, Texts } from './cli-command.js';

/** Longest time of a hook: with what a process takes to end, clients wait for less than 300 ms. */
const WITHIN_MS = 220;
/** The client may write the last message into its transcript late. */
const LONG_WITHIN_MS = 3000;
/** A start that takes most of that shows a busy machine, where all takes longer: a hook has so many times its start. */
const STARTS = 2.5;
/** A server that has answered gets the time that sending takes; an agent knows nothing without the start of its session. */
const MOST_STARTS = 4;
const MOST_BUSY_MS = 3000;
const LEAST_MS = 50;
const MOST_MS = 60_000;
/** Bytes of one event: to parse more takes longer than a hook has. */
const STDIN = 0;
const CHUNK = 64 * 1024;
const MAX_INPUT = 16 * 1024 * 1024;

type HookOptions = Texts<'nats' | 'within'>;

export function hookCommand(program: Command): void {
  program
    .command('hook')
    .description(
      'Reads an event of a coding agent on standard input and prints the text for the agent. Clients call it, as\n' +
        '"throughline connect" sets up. It never fails: an error is a line in hook.log, in ~/.local/state/throughline.',
    )
    .argument('<client>', Object.keys(HOOK_CLIENTS).join(', '))
    .option(
      '--within <ms>',
      `time limit in milliseconds, after which the agent continues (default: ${WITHIN_MS}, and more on a busy machine; ${LONG_WITHIN_MS} at the end of a turn of Copilot CLI)`,
    )
    .examples(`echo '{"hook_event_name":"SessionStart","session_id":"1"}' | throughline hook claude`)
    .action(async (client: string, _: object, command: Command) => {
      if (process.stdin.isTTY && hookClient(client) === undefined)
        throw usageError(
          `${JSON.stringify(client)} is not a client: use one of ${Object.keys(HOOK_CLIENTS).join(', ')}`,
        );
      await hook(client, command.optsWithGlobals<HookOptions>());
    });
}

/**
 * Runs one hook and ends the process, with code 0 whatever happens: any other code stops some agents. The time is counted
 * from the start of the process.
 */
export async function hook(name: string, { nats, within }: HookOptions = {}): Promise<void> {
  const startMs = performance.now();
  const input = inputOf(process.stdin);
  const directory = workingDirectory();
  let config: Config | undefined;
  let fault: unknown;
  try {
    config = loadConfig();
  } catch (error) {
    fault = error;
  }
  const stateDir = stateDirOf();
  // Compiled code is kept between hooks, in a folder of this user alone. Node.js 20 cannot.
  if ('enableCompileCache' in nodeModule && typeof nodeModule.enableCompileCache === 'function')
    nodeModule.enableCompileCache(join(stateDir, 'compiled'));
  const log = (line: string) => logHook(stateDir, line, () => serverText(server));
  let withinMs = within === undefined ? usualMs(startMs, STARTS) : withinOf(within);
  const leftMs = () => (withinMs ?? WITHIN_MS) - performance.now();
  const end = (answer: string): void => {
    if (answer === '') process.exit(0);
    process.stdout.write(answer, () => process.exit(0));
  };
  const give = (why: string, answer = '') => {
    log(`${name}: ${why}`);
    end(answer);
  };
  process.on('uncaughtException', (error) => give(`internal: ${messageOf(error)}`));
  // A wrong setting does not change where its event belongs.
  const env = config?.env ?? givenVariables();
  const server = serverInUse(stateDir, { nats, natsUrl: env.NATS_URL || undefined, directory });
  const spool = spoolOf(stateDir, installationKey(server), log);
  let isRecorded = false;
  /** Keeps an event that there was no time to record, without what a person marked as private. */
  const keepRaw = (text: string) => {
    // Empty, so that those of a later hook do not count.
    const { THROUGHLINE_SESSION = '', THROUGHLINE_PROJECT = '', THROUGHLINE_RESULT_ID = '' } = env;
    const kept = { THROUGHLINE_SESSION, THROUGHLINE_PROJECT, THROUGHLINE_RESULT_ID };
    try {
      if (pausedFolder(stateDir, directory) !== undefined) return;
      const event: unknown = JSON.parse(text, (_, value) =>
        typeof value === 'string' ? withoutPrivate(value, '<private></private>') : value,
      );
      const at = new Date().toISOString();
      spool.keep({ kind: 'raw', client: name, payload: JSON.stringify(event), at, directory, env: kept });
    } catch (error) {
      if (!(error instanceof SyntaxError)) log(`${name}: not kept: ${messageOf(error)}`);
    }
  };
  let lateAnswer: ((why: string) => string) | undefined;
  const giveUp = () => {
    if (!isRecorded) keepRaw(input.soFar());
    const send = ['result', 'unsent', '--send', spool.installation, ...(nats ? ['--nats', nats] : [])];
    // The next hook may never come.
    if (spoolCounts(stateDir).some((row) => row.installation === spool.installation))
      spawn(process.execPath, [process.argv[1] ?? '', ...send], { detached: true, stdio: 'ignore' }).unref();
    const why = `not done within ${withinMs} ms`;
    give(`${why}: gave up`, lateAnswer?.(`${why}: "throughline doctor" says why`));
  };
  let timer = setTimeout(giveUp, Math.max(0, leftMs()));
  const extendTo = (ms: number) => {
    if (within === undefined) withinMs = Math.max(withinMs ?? 0, ms);
    clearTimeout(timer);
    timer = setTimeout(giveUp, Math.max(0, leftMs()));
  };
  if (withinMs === undefined)
    return give(
      `--within is ${JSON.stringify(within)}: use a whole number of milliseconds from ${LEAST_MS} to ${MOST_MS}`,
    );
  const client = hookClient(name);
  if (client === undefined) return give('not a client of this version');
  if (config === undefined) {
    keepRaw(await input.whole);
    return give(messageOf(fault));
  }
  const known = config;
  const open = async () => {
    const { openClient } = await import('./open-client.js');
    const autostart = async () => (await import('./detached-up.js')).startUserServer(known);
    const mayStart = server.kind === 'own' && known.autostart === '1';
    const client = await openClient({ config: known, server, ...(mayStart && { autostart }) });
    extendTo(usualMs(startMs, MOST_STARTS));
    return client;
  };
  let opened: ReturnType<typeof open> | undefined;
  const connect = () => {
    opened ??= open();
    return opened;
  };
  const text = await input.whole;
  if (text === '') return give(`the input is empty, or larger than ${MAX_INPUT} bytes: it is left out`);
  const answer = await runHook(name, client, text, {
    config: known,
    stateDir,
    spool,
    directory,
    log,
    leftMs,
    onLate(answer) {
      lateAnswer = answer;
    },
    awaitTranscript: () => extendTo(LONG_WITHIN_MS),
    connect,
    person: (folder) => personName(server, folder),
    onRecorded: () => {
      isRecorded = true;
    },
  });
  end(answer);
}

/** Returns an empty text in a folder that is gone, and leaves it: much fails there. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    process.chdir('/');
    return '';
  }
}

/** Reads standard input. The text is empty if it is larger than a hook takes. */
function inputOf(stream: NodeJS.ReadStream) {
  const parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer) => {
    bytes += part.length;
    if (bytes <= MAX_INPUT) parts.push(part);
  };
  const text = () => (bytes > MAX_INPUT ? '' : Buffer.concat(parts).toString('utf8'));
  return {
    whole: once(stream.on('data', add), 'end').then(text),
    /** Returns what the client has written by now. */
    soFar(): string {
      try {
        for (let part = Buffer.alloc(CHUNK); bytes <= MAX_INPUT; part = Buffer.alloc(CHUNK)) {
          const read = readSync(STDIN, part);
          if (read === 0) break;
          add(part.subarray(0, read));
        }
      } catch {
        // The client is still writing, or the stream has read the end and closed the pipe.
      }
      return text();
    },
  };
}

/** The time that a hook may take whose start took so long, both in milliseconds. */
function usualMs(startMs: number, starts: number): number {
  return Math.round(Math.min(MOST_BUSY_MS, Math.max(WITHIN_MS, starts * startMs)));
}

/** The time of `--within`; `undefined` for a text that is none. */
function withinOf(text: string): number | undefined {
  const ms = Number(text);
  return /^\d{2,5}$/.test(text) && ms >= LEAST_MS && ms <= MOST_MS ? ms : undefined;
}
