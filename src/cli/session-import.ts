import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { checkedBy } from '../contracts/checked.js';
import { codeOf, messageOf, systemCode, ThroughlineError, usageError } from '../contracts/errors.js';
import { EVENT_VERSION } from '../contracts/event.js';
import { type Token, token } from '../contracts/names.js';
import type { SessionEvent } from '../contracts/session-events.js';
import {
  SESSION_FILE_VERSION,
  sessionFileEnd,
  sessionFileEvent,
  sessionFileHead,
} from '../contracts/session-requests.js';
import { checkpointOf } from '../memory/session/checkpoint.js';
import { ImportedState } from '../memory/session/imported-state.js';
import { keepTrying } from '../sdk/keep-trying.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { visible } from '../shared/terminal-text.js';
import { counted, isObject } from '../shared/text.js';
import { VERSION } from '../version.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, note, out, withClient } from './command-context.js';
import { allPages, progressLine } from './output.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';

/** Events and bytes of a request. */
const PAGE = 500;
const PAGE_BYTES = 256 * 1024;

export function addImport(session: Command): void {
  session
    .command('import')
    .summary('make sessions from a file')
    .argument('<file>', 'a file that "throughline session export" has written; - is standard input')
    .description(
      'Makes new sessions from a file, here or on another server: the same state, whose results count as older than all new ones.\n' +
        'The events of the file are kept as history. A session that exists already is left as it is.',
    )
    .option('--as <name>', 'the name of the new session (default: the name in the file)')
    .option('--json', 'print [{"session","events"}]')
    .examples(
      'throughline session import demo.jsonl',
      'throughline session import demo.jsonl --as demo-2',
      'throughline session export demo | throughline session import - --as demo-2',
    )
    .action(async (path: string, { as, json = false }: Texts<'as'> & Flags<'json'>, command: Command) => {
      const made: { session: string; events: number }[] = [];
      await withClient(cliOf(command), async (client) => {
        const files = sessionFiles(path, await linesOf(path));
        const only = as === undefined ? undefined : await files.next();
        if (only !== undefined && !(await files.next()).done)
          throw usageError(
            `--as names one session, and ${path} holds several: write one to a file with "throughline session export NAME", and import that`,
          );
        for await (const file of only === undefined || only.done ? files : [only.value]) {
          const session = as === undefined ? file.session : token(as, '--as');
          try {
            await imported(client, session, file);
            made.push({ session, events: file.events.length });
            if (!json) out(`imported session ${session}: ${counted(file.events.length, 'event')}`);
          } catch (error) {
            if (codeOf(error) !== 'session_exists') throw error;
            // The others of the file are imported all the same.
            process.exitCode = 1;
            note(`-- ${messageOf(error)}`);
          }
        }
      });
      if (json) out(JSON.stringify(made));
    });
}

async function imported(client: ThroughlineClient, session: Token, file: SessionFile): Promise<void> {
  const id = randomUUID();
  const ask = (more: object) => patiently(() => client.tools.sessionImport({ session, id, ...more }));
  const state = file.state.settled(session);
  const data = checkpointOf(state, 'imported', file.events.length);
  await ask({ checkpoint: { v: EVENT_VERSION, type: 'session.checkpoint', at: state.lastEventAt, data } });
  // The log of an archived session is its checkpoint.
  if (state.charter.archived !== undefined) return;
  const progress = progressLine();
  let from = 0;
  for (const history of pagesOf(file.events)) {
    await ask({ from, history });
    from += history.length;
    progress(`${from} of ${counted(file.events.length, 'event')} imported`);
  }
}

function* pagesOf(events: readonly SessionEvent[]): Generator<SessionEvent[]> {
  let page: SessionEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    // The state in it is not history, and may fill a message.
    if (event.type === 'session.checkpoint') continue;
    const size = Buffer.byteLength(JSON.stringify(event));
    if (page.length > 0 && (page.length >= PAGE || bytes + size > PAGE_BYTES)) {
      yield page;
      [page, bytes] = [[], 0];
    }
    page.push(event);
    bytes += size;
  }
  if (page.length > 0) yield page;
}

/** Reads a file or a pipe line by line; `-` is standard input. Throws ThroughlineError `usage` if it cannot be opened. */
async function linesOf(path: string): Promise<AsyncIterable<string>> {
  // A socket, which another program may give for standard input, cannot be opened by its path.
  if (path === '-' || path === '/dev/stdin')
    return createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const file = await open(path).catch((cause: unknown) => {
    throw usageError(`${path} cannot be read: ${messageOf(cause)}`);
  });
  if ((await file.stat()).isDirectory()) {
    await file.close();
    throw usageError(`${path} is a folder: name a file that "throughline session export" has written`);
  }
  return file.readLines();
}

interface SessionFile {
  readonly session: Token;
  readonly events: SessionEvent[];
  readonly state: ImportedState;
}

/** Reads the sessions of a file one by one. Throws ThroughlineError `schema_invalid` that names line and field. */
export async function* sessionFiles(path: string, lines: AsyncIterable<string> | Iterable<string>) {
  let line = 0;
  let begun: SessionFile | undefined;
  for await (const text of lines) {
    line += 1;
    // An editor may have put it there.
    if (begun === undefined && text.trim() === '') continue;
    try {
      const json: unknown = JSON.parse(text);
      if (begun === undefined) {
        const session = token(checkedBy(sessionFileHead, json).session, 'session');
        begun = { session, events: [], state: new ImportedState() };
      } else if (isObject(json) && 'events' in json) {
        if (checkedBy(sessionFileEnd, json).events !== begun.events.length)
          throw new ThroughlineError('schema_invalid', 'lines before are missing, or were added');
        yield begun;
        begun = undefined;
      } else {
        const stored = checkedBy(sessionFileEvent, json);
        begun.state.add(stored);
        begun.events.push(stored.event);
      }
    } catch (error) {
      if (error instanceof SyntaxError)
        throw damaged(path, line, 'is not JSON: the file was cut off there, or changed. Export it again');
      // A rejected schema is a fault of the file, not of the command line.
      throw codeOf(error) === 'schema_invalid' ? damaged(path, line, messageOf(error)) : error;
    }
  }
  if (begun !== undefined) throw damaged(path, line, 'it was cut off. Export it again');
  if (line === 0) throw new ThroughlineError('schema_invalid', `${path} is empty: export it again`);
}

function damaged(path: string, line: number, why: string): ThroughlineError {
  return new ThroughlineError('schema_invalid', `${path} line ${line}: ${why}`);
}

export function addExport(session: Command): void {
  onSession(session.command('export'))
    .summary('write a session, or all of them, to a file')
    .description(
      'Writes all events of a session as JSON lines, for "throughline session import", here or on another server. Its last line\n' +
        'shows that it is complete. Results that come while it is written may be missing.',
    )
    .option('-a, --all', 'all sessions, archived ones included, one after another')
    .examples('throughline session export demo > demo.jsonl', 'throughline session export --all > all.jsonl')
    .action(async (_: string | undefined, { all = false }: Flags<'all'>, command: Command) => {
      const cli = cliOf(command);
      await withClient(cli, async (client) => {
        const listed = (cursor: object) =>
          client.tools.sessionList({ archived: true, brief: true, ...cursor });
        const found = all ? (await allPages(listed)).flatMap(({ sessions }) => sessions) : [];
        const names = all ? found.map(({ session }) => session) : [sessionGiven(cli, command)];
        for (const name of new Set(names)) await exportTo(client, name);
        if (all) note('-- without learnings: "throughline admin backup DIRECTORY" copies everything');
      }).catch((fault: unknown) => {
        if (systemCode(fault) !== 'EPIPE') throw fault;
        process.exitCode = 1;
        note('-- the export is not complete: what read it has ended');
      });
    });
}

async function exportTo(client: ThroughlineClient, session: string): Promise<void> {
  const write = async (lines: readonly object[]) => {
    // JSON that is the same, and that a terminal may be shown.
    const text = lines.map((line) => `${visible(JSON.stringify(line))}\n`).join('');
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  };
  const shown = await patiently(() => client.runs.status({ session }));
  requireEvents(token(session, 'session'), shown.sequence);
  const at = new Date().toISOString();
  await write([{ throughline: 'session', v: SESSION_FILE_VERSION, session, version: VERSION, at }]);
  const progress = progressLine();
  let [events, skipped] = [0, 0];
  await allPages(async (cursor) => {
    const page = await patiently(() => client.tools.sessionExport({ session, ...cursor }));
    await write(page.events);
    events += page.events.length;
    skipped += page.skipped;
    progress(`${counted(events, 'event')} exported`);
    return page.next === undefined ? {} : { next: page.next };
  });
  await write([{ events }]);
  const left = skipped === 0 ? '' : `; ${counted(skipped, 'message')} that cannot be read as events left out`;
  note(`-- exported session ${session}: ${counted(events, 'event')}${left}`);
}

/** Longest time to retry while the server is away, or limits the rate, during a long operation. */
const TRIED_MS = 60_000;

export function patiently<T>(ask: () => Promise<T>): Promise<T> {
  return keepTrying(ask, { timeoutMs: TRIED_MS });
}
