import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { checkedBy } from '../contracts/checked.js';
import { codeOf, messageOf, systemCode, ThroughlineError } from '../contracts/errors.js';
import { type Token, token } from '../contracts/names.js';
import type { ToolReply } from '../contracts/replies/replies.js';
import { newestNamed, type StoredEvent } from '../contracts/session-events.js';
import {
  placed,
  SESSION_FILE_VERSION,
  type SessionFileEnd,
  type SessionFileHead,
  sessionFileEnd,
  sessionFileEvent,
  sessionFileHead,
} from '../contracts/session-file.js';
import { CanonicalState, CopiedSequences, rankedNext } from '../memory/session/copied-events.js';
import { checkForeign } from '../memory/session/foreign-events.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { visible } from '../shared/terminal-text.js';
import { counted, isObject } from '../shared/text.js';
import { VERSION } from '../version.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { cliOf, note, out, withClient } from './command-context.js';
import { readNamed } from './option-parsers.js';
import { patiently, showProgress } from './progress-line.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';

type ImportOptions = Flags<'json'> & Texts<'as'>;

/** Events and bytes of a request. */
const PAGE = 500;
const PAGE_BYTES = 256 * 1024;
/** Between two looks whether another service has taken in what came before. */
const AGAIN_MS = 100;
const MOST_AGAIN = 100;

export function addImport(session: Command): void {
  session
    .command('import')
    .summary('make a session from a file')
    .argument('<file>', 'a file that "throughline session export" has written; - is standard input')
    .description(
      'Makes a session from a file, here or on another server: the same state, byte for byte, but for its name and sequences. It\n' +
        'becomes a session once all events are there. The same command continues an import that was cut short. New results count\n' +
        'as newer than those of the file.',
    )
    .option('--as <name>', 'the name of the new session (default: the name in the file)')
    .option('--json', 'print {"session","events","dispatches","same"}')
    .examples(
      'throughline session import demo.jsonl',
      'throughline session import demo.jsonl --as demo-2',
      'throughline session export demo | throughline session import - --as demo-2',
    )
    .action(async (path: string, options: ImportOptions, command: Command) => {
      const cli = cliOf(command);
      const checking = showProgress(isShown(), 'event', 'checked');
      const source = await sessionSource(path);
      const file = await checkedSessionFile(source, checking.reached).finally(checking.ended);
      const name =
        options.as === undefined
          ? token(file.head.session, `${source.name} line 1: session`)
          : token(options.as, '--as');
      await withClient(cli, (client) => imported(client, name, source, file)).catch((fault: unknown) => {
        throw ofFile(source.name, fault);
      });
      const { count } = file.state;
      if (options.json === true)
        return out(JSON.stringify({ session: name, events: count, dispatches: file.dispatches, same: true }));
      out(
        `imported session ${name}: ${counted(count, 'event')}; its state is that of the file, byte for byte, but for its name and sequences`,
      );
    });
}

function isShown(): boolean {
  return process.stderr.isTTY === true;
}

async function imported(client: ThroughlineClient, session: Token, source: SessionSource, file: SessionFile) {
  const of = { session, file: file.sha256, dispatches: file.dispatches };
  const ask = (more: object) => patiently(() => client.requestTool('session-import', { ...of, ...more }));
  let begun = await ask({});
  while (begun.state === 'numbers') {
    if (isShown()) note(`-- numbers of results are moved up: ${begun.dispatches}`);
    begun = await ask({});
  }
  const progress = showProgress(isShown(), 'event', 'imported', file.state.count);
  const send = async (events: readonly StoredEvent[]) => {
    const last = events.at(-1)?.sequence ?? 0;
    for (let attempt = 1; (await ask({ events })).events < last; attempt += 1) {
      if (attempt === MOST_AGAIN) throw notSame(session);
      await sleep(AGAIN_MS);
    }
    progress.reached(last);
  };
  try {
    let page: StoredEvent[] = [];
    let bytes = 0;
    for await (const event of numberedEvents(source)) {
      const size = Buffer.byteLength(JSON.stringify(event));
      if (page.length > 0 && (page.length >= PAGE || bytes + size > PAGE_BYTES)) {
        await send(page);
        [page, bytes] = [[], 0];
      }
      page.push(event);
      bytes += size;
    }
    if (page.length > 0) await send(page);
  } finally {
    progress.ended();
  }
  await requireSame(client, session, file);
  try {
    await ask({ done: true });
  } catch (error) {
    // The answer to an earlier attempt was lost: it is a session by now.
    if (codeOf(error) !== 'session_exists') throw error;
  }
}

async function requireSame(client: ThroughlineClient, session: Token, { state }: SessionFile): Promise<void> {
  const stored = new CanonicalState();
  const progress = showProgress(isShown(), 'event', 'compared', state.count);
  try {
    for await (const { events } of exportPages(client, session)) {
      stored.add(events.map((each) => placed(sessionFileEvent.parse(each))));
      progress.reached(stored.count);
    }
  } finally {
    progress.ended();
  }
  if (stored.count !== state.count || stored.text() !== state.text()) throw notSame(session);
}

function notSame(session: Token): ThroughlineError {
  return new ThroughlineError(
    'conflict',
    `session ${session} is not the same as the file, so it is not a session yet: secrets may have been taken out, or someone else has imported it at the same time. Remove it with "throughline session rm ${session}", and import the file again`,
  );
}

/** A session file, which is read more than once. */
export interface SessionSource {
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * @param path of a file or a pipe; `-` is standard input
 * @throws ThroughlineError `usage` where it cannot be read
 */
export async function sessionSource(path: string): Promise<SessionSource> {
  // A socket, which another program may give for standard input, cannot be opened by its path.
  if (path === '-' || path === '/dev/stdin')
    return { name: path === '-' ? 'standard input' : path, bytes: await buffer(process.stdin) };
  return { name: path, bytes: await readNamed(path) };
}

/** A file that was read whole, and is sound. */
export interface SessionFile {
  readonly head: SessionFileHead;
  /** SHA-256 of all lines but the last. */
  readonly sha256: string;
  /** The highest dispatch that an event names; 0 for none. */
  readonly dispatches: number;
  /** Its state, whatever the sequences are. */
  readonly state: CanonicalState;
}

const TOLD_EVERY = 1000;

/**
 * Reads the whole file, and looks whether it is sound.
 *
 * @throws ThroughlineError `schema_invalid` that names line and field
 */
export async function checkedSessionFile(
  source: SessionSource,
  onEvents: (count: number) => void = () => {},
): Promise<SessionFile> {
  const { name: path } = source;
  const hash = createHash('sha256');
  const state = new CanonicalState();
  let [dispatches, sequence, line] = [0, 0, 0];
  let head: SessionFileHead | undefined;
  let end: z.output<typeof sessionFileEnd> | undefined;
  for await (const text of linesOf(source)) {
    line += 1;
    const place = `${path} line ${line}`;
    // An editor may have put it there.
    if (end !== undefined && text.trim() === '') continue;
    if (end !== undefined) throw damaged(place, 'stands after the last line of a whole file');
    const json = parsed(place, text);
    if (head === undefined) head = headOf(place, json);
    else if (isEnd(json)) end = checked(place, sessionFileEnd, json);
    else {
      const stored = placed(checked(place, sessionFileEvent, json));
      if (stored.sequence <= sequence) throw damaged(place, `sequence: must be above ${sequence}`);
      sequence = stored.sequence;
      dispatches = Math.max(dispatches, newestNamed(stored.event)?.sequence ?? 0);
      await added(place, state, stored);
      if (state.count % TOLD_EVERY === 0) onEvents(state.count);
    }
    if (end === undefined) hash.update(`${text}\n`);
  }
  if (head === undefined) throw damaged(path, 'is empty');
  if (end === undefined)
    throw damaged(
      path,
      `ends with line ${line}: the last line is missing, so it was cut off. Export it again`,
    );
  if (end.events !== state.count)
    throw damaged(`${path} line ${line}`, `events: says ${end.events}, and ${state.count} are there`);
  if (end.sha256 !== hash.digest('hex'))
    throw damaged(
      `${path} line ${line}`,
      'sha256: is another one than that of the lines before: one was changed',
    );
  if (state.count === 0) throw damaged(path, 'holds no event');
  return { head, sha256: end.sha256, dispatches, state };
}

/** The events of a file that was found sound, numbered 1, 2, 3 …. */
export async function* numberedEvents(source: SessionSource): AsyncGenerator<StoredEvent> {
  const { name: path } = source;
  const ranks = new CopiedSequences();
  let isFirst = true;
  for await (const text of linesOf(source)) {
    const json = isFirst ? undefined : parsed(path, text);
    isFirst = false;
    if (json === undefined) continue;
    if (isEnd(json)) return;
    yield rankedNext(placed(checked(path, sessionFileEvent, json)), ranks);
  }
}

function headOf(place: string, json: unknown): SessionFileHead {
  const { data: v = 0 } = z.number().safeParse(isObject(json) ? json.v : undefined);
  if (v > SESSION_FILE_VERSION)
    throw damaged(place, `v: is ${v}, of a later version of Throughline: import it with that version`);
  return checked(place, sessionFileHead, json);
}

function isEnd(json: unknown): boolean {
  return isObject(json) && 'sha256' in json;
}

function linesOf({ bytes }: SessionSource): AsyncIterable<string> {
  return createInterface({ input: Readable.from(parts(bytes)), crlfDelay: Number.POSITIVE_INFINITY });
}

/** Small enough for a string each. */
const PART_BYTES = 64 * 1024;

function* parts(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
}

function parsed(place: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged(place, 'is not JSON: the file was cut off there, or changed. Export it again');
  }
}

function checked<Schema extends z.ZodType>(place: string, schema: Schema, json: unknown): z.output<Schema> {
  try {
    return checkedBy(schema, json);
  } catch (error) {
    throw ofFile(place, error);
  }
}

async function added(place: string, state: CanonicalState, stored: StoredEvent): Promise<void> {
  try {
    await checkForeign(stored, Date.now());
    state.add([stored]);
  } catch (error) {
    throw ofFile(place, error);
  }
}

/** A rejected schema is a fault of the file, not of the command line. */
function ofFile(place: string, error: unknown): unknown {
  return codeOf(error) === 'schema_invalid' ? damaged(place, messageOf(error)) : error;
}

export function damaged(place: string, why: string): ThroughlineError {
  return new ThroughlineError('schema_invalid', `${place}: ${why}`);
}

export function addExport(session: Command): void {
  onSession(session.command('export'))
    .summary('write a session to a file')
    .description(
      'Writes all events of a session as JSON lines, for "throughline session import", here or on another server. The last\n' +
        'line shows that the file is complete. Results that come while it is written may be missing.',
    )
    .examples('throughline session export demo > demo.jsonl')
    .action(async (...given: unknown[]) => {
      const command = given.at(-1) as Command;
      const cli = cliOf(command);
      const name = sessionGiven(cli, command);
      const progress = showProgress(isShown() && process.stdout.isTTY !== true, 'event', 'exported');
      const written = await withClient(cli, (client) =>
        exported(client, name, progress.reached).finally(progress.ended),
      ).catch((fault: unknown) => {
        if (systemCode(fault) === 'EPIPE') return undefined;
        throw fault;
      });
      if (written === undefined) {
        process.exitCode = 1;
        return note('-- the export is not complete: what read it has ended');
      }
      const { events, skipped } = written;
      const left =
        skipped === 0 ? '' : `; ${counted(skipped, 'message')} that cannot be read as events left out`;
      note(`-- exported session ${name}: ${counted(events, 'event')}${left}`);
    });
}

export async function* exportPages(
  client: ThroughlineClient,
  session: string,
): AsyncGenerator<ToolReply<'session-export'>> {
  for (let cursor: string | undefined; ; ) {
    const begin = cursor;
    const page = await patiently(() =>
      client.tools.sessionExport({ session, ...(begin !== undefined && { cursor: begin }) }),
    );
    yield page;
    cursor = page.next;
    if (cursor === undefined) return;
  }
}

async function exported(client: ThroughlineClient, session: Token, onEvents: (count: number) => void) {
  const hash = createHash('sha256');
  const write = async (lines: readonly object[]) => {
    // JSON that is the same, and that a terminal may be shown.
    const text = lines.map((line) => `${visible(JSON.stringify(line))}\n`).join('');
    hash.update(text);
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  };
  const shown = await patiently(() => client.tools.sessionShow({ session }));
  requireEvents(session, shown.sequence);
  const { project } = shown.session;
  let [events, skipped] = [0, 0];
  for await (const page of exportPages(client, session)) {
    if (events === 0 && skipped === 0) {
      const head: SessionFileHead = {
        ...{ throughline: 'session', v: SESSION_FILE_VERSION, session },
        ...(project !== undefined && { project }),
        ...{ sequence: page.sequence, version: VERSION, at: new Date().toISOString() },
      };
      await write([head]);
    }
    await write(page.events);
    events += page.events.length;
    skipped += page.skipped;
    onEvents(events);
  }
  const end: SessionFileEnd = { events, sha256: hash.digest('hex') };
  if (!process.stdout.write(`${JSON.stringify(end)}\n`)) await once(process.stdout, 'drain');
  return { events, skipped };
}
