import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { checkedBy } from '../contracts/checked.js';
import { codeOf, messageOf, ThroughlineError } from '../contracts/errors.js';
import { newestNamed, type StoredEvent } from '../contracts/session-events.js';
import {
  placed,
  SESSION_FILE_VERSION,
  type SessionFileHead,
  sessionFileEnd,
  sessionFileEvent,
  sessionFileHead,
} from '../contracts/session-file.js';
import { CanonicalState, CopiedSequences, rankedNext } from '../memory/session/copied-events.js';
import { checkForeign } from '../memory/session/foreign-events.js';

/** Where a session file is read: more than once, so what comes from a pipe is kept. */
export interface SessionSource {
  /** As messages name it. */
  readonly name: string;
  readonly bytes?: Buffer;
}

/**
 * @param path of a file or a pipe; `-` is standard input
 * @throws ThroughlineError `usage` where it cannot be read
 */
export async function sessionSource(path: string): Promise<SessionSource> {
  // A socket, which another program may give for standard input, cannot be opened by its path.
  if (path === '-' || path === '/dev/stdin') {
    return { name: path === '-' ? 'standard input' : path, bytes: await buffer(process.stdin) };
  }
  try {
    await using file = await open(path);
    const stat = await file.stat();
    if (stat.isDirectory()) throw new ThroughlineError('usage', `${path} is a folder, not a file`);
    return stat.isFile() ? { name: path } : { name: path, bytes: await file.readFile() };
  } catch (cause) {
    throw unreadable(path, cause);
  }
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
 * @throws ThroughlineError `schema_invalid` that names line and field, `usage` where it cannot be read
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

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null;
}

function isEnd(json: unknown): boolean {
  return isObject(json) && 'sha256' in json;
}

async function* linesOf({ name, bytes }: SessionSource): AsyncGenerator<string> {
  if (bytes !== undefined) {
    yield* createInterface({ input: Readable.from(parts(bytes)), crlfDelay: Number.POSITIVE_INFINITY });
    return;
  }
  try {
    await using file = await open(name);
    yield* file.readLines({ autoClose: false });
  } catch (cause) {
    throw unreadable(name, cause);
  }
}

/** Small enough for a string each. */
const PART_BYTES = 64 * 1024;

function* parts(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
}

function unreadable(path: string, cause: unknown): ThroughlineError {
  if (cause instanceof ThroughlineError) return cause;
  return new ThroughlineError('usage', `${path} cannot be read: ${messageOf(cause)}`, { cause });
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
    throw codeOf(error) === 'schema_invalid' ? damaged(place, messageOf(error)) : error;
  }
}

async function added(place: string, state: CanonicalState, stored: StoredEvent): Promise<void> {
  try {
    await checkForeign(stored, Date.now());
    state.add([stored]);
  } catch (error) {
    throw codeOf(error) === 'schema_invalid' ? damaged(place, messageOf(error)) : error;
  }
}

/** A fault of what a file of a session holds. */
export function damaged(place: string, why: string): ThroughlineError {
  return new ThroughlineError('schema_invalid', `${place}: ${why}`);
}
