import type { JetStreamManager, StreamInfo } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { pause } from '../../engine/runtime/batched.js';
import { API, apiCode, ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { batchesOf, batchFrom, type StreamMessage } from './direct-get.js';
import { firstMessage } from './newest-page.js';
import type { StorePorts } from './topology.js';

/**
 * Erases messages from a stream and its files.
 *
 * A purge by subject only marks messages: their text stays in the block file until more than half of it is removed. A secure
 * delete overwrites immediately, but the server rewrites the whole block of up to 8 MB, which takes milliseconds per message.
 * So blocks that hold nothing else are removed whole by a purge.
 */
export type ErasePorts = Omit<StorePorts, 'replicas'>;

interface EraseOptions {
  /** Inclusive end. Default: all. */
  readonly through?: number;
  /** Yields half of the time to other work even for few messages. */
  readonly unhurried?: boolean;
  /** Called before each message or block; if it throws, the rest stays. */
  readonly mayGoOn?: () => void;
}

/** The server's largest block file, in bytes. */
export const BLOCK_BYTES = 8 * 1024 * 1024;
/** Messages erased without pauses; with more, half of the time is left to others. */
const UNPAUSED = 500;
/** Poll interval for a lagging replica. */
const LAG_PAUSE_MS = 20;
/** Smallest run that is worth a purge. */
const LEAST_PURGED = 64;

interface Placed {
  readonly sequence: number;
  /** Lower bound of its size. */
  readonly bytes: number;
}

/**
 * Erases the messages on some subjects and returns their number; 0 if the stream does not exist. Ends when the leader has none
 * left, because a lagging replica does not show the newest.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`; messages erased by then are gone
 */
export async function eraseMessages(
  ports: ErasePorts,
  stream: string,
  filter: string,
  options: EraseOptions = {},
): Promise<number> {
  const { through = Number.MAX_SAFE_INTEGER } = options;
  const { jsm, timeoutMs } = ports;
  try {
    let erased = 0;
    for (let [from, until] = [1, performance.now() + timeoutMs]; ; ) {
      const found = await placesOf(ports, stream, filter, from, through);
      await eraseFound(ports, stream, filter, found, options);
      erased += found.length;
      const left = await firstMessage(jsm, stream, filter, 1);
      if (left === undefined || left.seq > through) return erased;
      from = left.seq;
      if (found.length > 0) until = performance.now() + timeoutMs;
      else if (performance.now() > until)
        throw new ThroughlineError('unavailable', `the replicas of ${stream} lag behind`);
      else await pause(LAG_PAUSE_MS);
    }
  } catch (error) {
    if (apiCode(error) === API.streamNotFound) return 0;
    throw toThroughlineError(error, `erasing messages of ${stream}`);
  }
}

async function eraseFound(
  { jsm }: ErasePorts,
  stream: string,
  filter: string,
  found: readonly Placed[],
  { unhurried = false, mayGoOn }: EraseOptions,
): Promise<void> {
  const pauses = unhurried || found.length > UNPAUSED;
  for (const { single, whole } of erasures(found)) {
    for (const { sequence } of single) {
      mayGoOn?.();
      const started = performance.now();
      await eraseOne(jsm, stream, sequence);
      if (pauses) await pause(performance.now() - started);
    }
    const last = whole.at(-1);
    if (last === undefined) continue;
    mayGoOn?.();
    // Earlier messages are erased already, so the purge affects only these.
    await jsm.streams.purge(stream, { filter, seq: last.sequence + 1 });
  }
}

/** In stream order: messages to erase one by one, then messages that fill whole blocks. */
interface Erasure {
  readonly single: readonly Placed[];
  readonly whole: readonly Placed[];
}

/**
 * Splits messages into single ones and whole blocks: a run in the middle of a block's worth of consecutive messages on both
 * sides shares its blocks with nobody.
 */
export function erasures(found: readonly Placed[], blockBytes = BLOCK_BYTES): Erasure[] {
  const all: Erasure[] = [];
  let single: Placed[] = [];
  for (let start = 0; start < found.length; ) {
    let end = start + 1;
    while (end < found.length && found[end]?.sequence === (found[end - 1]?.sequence ?? 0) + 1) end += 1;
    const run = found.slice(start, end);
    start = end;
    const first = beyond(run, blockBytes);
    const last = run.length - beyond([...run].reverse(), blockBytes);
    if (last - first < LEAST_PURGED) {
      single.push(...run);
      continue;
    }
    all.push({ single: [...single, ...run.slice(0, first)], whole: run.slice(first, last) });
    single = run.slice(last);
  }
  all.push({ single, whole: [] });
  return all;
}

/** Returns how many of the first messages fill a block. */
function beyond(run: readonly Placed[], blockBytes: number): number {
  let bytes = 0;
  const at = run.findIndex((each) => {
    bytes += each.bytes;
    return bytes >= blockBytes;
  });
  return at < 0 ? run.length : at + 1;
}

async function placesOf(
  { connection, timeoutMs }: ErasePorts,
  stream: string,
  filter: string,
  from: number,
  through: number,
): Promise<Placed[]> {
  const found: Placed[] = [];
  for await (const messages of batchesOf(connection, stream, filter, { seq: from }, timeoutMs)) {
    for (const { sequence, subject, data } of messages) {
      if (sequence > through) return found;
      found.push({ sequence, bytes: subject.length + data.length });
    }
  }
  return found;
}

async function eraseOne(jsm: JetStreamManager, stream: string, sequence: number): Promise<void> {
  try {
    await jsm.streams.deleteMessage(stream, sequence, true);
  } catch (error) {
    const code = apiCode(error);
    // Someone else was faster.
    if (code !== API.sequenceNotFound && code !== API.messageNotFound) throw error;
  }
}

/**
 * Rewrites a stream of current values, so that its files contain nothing else: a replaced or purged value otherwise stays in
 * its block file as long as half of the file is in use.
 *
 * The current block is filled up, so that all earlier files are closed; each value is stored again behind it with
 * compare-and-set; then everything before is purged, whole files at a time. The newest message of each subject has the same
 * value at all times. Older revisions are lost.
 */
interface RewriteOptions {
  /** Prefix of the stream's subjects: `compiled.`. */
  readonly prefix: string;
  /** One value per subject, or all. */
  readonly keeps: 'newest' | 'all';
}

/** Longer than any name. */
const FILLER = 'filler'.padEnd(65, '-');

const CHUNK_BYTES = 512 * 1024;
const ENVELOPE_BYTES = 4096;
const BATCH = 200;
const BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Rewrites a stream, if it exists. Can be repeated after a crash.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`, `store_full`; nothing is lost then
 */
export async function rewriteStream(
  ports: ErasePorts,
  stream: string,
  { prefix, keeps }: RewriteOptions,
): Promise<void> {
  const { jsm } = ports;
  try {
    const info = await ifExists(jsm.streams.info(stream));
    if (info === undefined) return;
    const filler = `${prefix}${FILLER}`;
    const last = await fill(ports, info, filler);
    await jsm.streams.purge(stream, { filter: filler });
    for (let from = 1; from <= last; ) {
      const wanted = { seq: from, batch: BATCH, max_bytes: BATCH_BYTES, next_by_subj: '>' };
      const { messages } = await batchFrom(ports.connection, stream, wanted, ports.timeoutMs);
      const found = messages.filter(({ sequence }) => sequence <= last);
      const next = messages.at(-1)?.sequence;
      // Messages of one subject stay in order, which matters if all are kept.
      await Promise.all(found.map((message) => again(ports, stream, message, keeps)));
      if (next === undefined || next > last) break;
      from = next + 1;
    }
    await jsm.streams.purge(stream, { seq: last + 1 });
  } catch (error) {
    throw toThroughlineError(error, `writing ${stream} again`);
  }
}

/** Fills the current block; returns the last sequence before the next block. */
async function fill(ports: ErasePorts, { config }: StreamInfo, subject: string): Promise<number> {
  const most = config.max_msg_size > 0 ? config.max_msg_size : Number.POSITIVE_INFINITY;
  const payload = (ports.connection.info?.max_payload ?? 1024 * 1024) - ENVELOPE_BYTES;
  const chunk = new Uint8Array(Math.min(CHUNK_BYTES, payload, most - Math.min(most, subject.length + 100)));
  let last = 0;
  // One more than fits, which starts a new block.
  for (let bytes = 0; bytes <= BLOCK_BYTES; bytes += chunk.length) {
    last = await stored(ports, config.name, subject, chunk);
  }
  return last;
}

async function stored(
  { publisher }: ErasePorts,
  stream: string,
  subject: string,
  body: Uint8Array,
): Promise<number> {
  const published = await publisher.publish(subject, body, { stream });
  if (published.outcome === 'stored') return published.sequence;
  throw new ThroughlineError('unavailable', `stream ${stream} has no subject ${subject}`);
}

/** Stores a message again, unless it is no longer the newest. */
async function again(
  { publisher }: ErasePorts,
  stream: string,
  { sequence, subject, data, headers }: StreamMessage,
  keeps: RewriteOptions['keeps'],
): Promise<void> {
  const kept: Record<string, string> = {};
  for (const [name] of headers ?? []) {
    if (KEPT_HEADERS.has(name)) kept[name] = headers?.get(name) ?? '';
  }
  const published = await publisher.publish(subject, data, {
    stream,
    headers: kept,
    ...(keeps === 'newest' && { expectedLastOfSubjects: { sequence, subjects: subject } }),
  });
  if (published.outcome === 'no_stream')
    throw new ThroughlineError('unavailable', `stream ${stream} has no subject ${subject}`);
}

/** Headers with meaning; all others describe how a message was stored. */
const KEPT_HEADERS: ReadonlySet<string> = new Set(['KV-Operation', 'Nats-TTL']);
