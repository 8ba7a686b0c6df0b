import type { StreamInfo } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import type { AckedPublisher } from './acked-publisher.js';
import { batchFrom, type StreamMessage } from './direct-get.js';
import { BLOCK_BYTES, type ErasePorts } from './erase-messages.js';

/**
 * Writes a stream of current values again, so that its files hold nothing but these: a value that was replaced, or purged,
 * otherwise stays in its block file for as long as half of that file is in use.
 *
 * The block that is written to is filled up, so that all files from before are closed; each value is stored again behind that, on
 * the expectation that it is still the newest of its subject; then everything before is removed, whole files at a time. At
 * each moment the newest message of each subject is the same value. Older revisions are gone.
 */
export interface TurnOverPorts extends ErasePorts {
  readonly publisher: AckedPublisher;
}

interface TurnOverOptions {
  /** What the subjects of the stream begin with: `compiled.`. */
  readonly prefix: string;
  /** Whether subjects have one value, or many that all count. */
  readonly keeps: 'newest' | 'all';
}

/** Longer than the name of anything. */
const FILLER = 'filler'.padEnd(65, '-');

const CHUNK_BYTES = 512 * 1024;
const ENVELOPE_BYTES = 4096;
const BATCH = 200;
const BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Gives how many messages were stored again; a stream that is not there has none. To begin again after a kill harms nothing.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`, `store_full`; nothing is lost then
 */
export async function turnOver(
  ports: TurnOverPorts,
  stream: string,
  { prefix, keeps }: TurnOverOptions,
): Promise<number> {
  const { jsm } = ports;
  try {
    const info = await infoOf(ports, stream);
    if (info === undefined) return 0;
    const filler = `${prefix}${FILLER}`;
    const last = await fill(ports, info, filler);
    await jsm.streams.purge(stream, { filter: filler });
    let moved = 0;
    for (let from = 1; from <= last; ) {
      const wanted = { seq: from, batch: BATCH, max_bytes: BATCH_BYTES, next_by_subj: '>' };
      const { messages } = await batchFrom(ports.connection, stream, wanted, ports.timeoutMs);
      const found = messages.filter(({ sequence }) => sequence <= last);
      const next = messages.at(-1)?.sequence;
      // Those of one subject in their order; it matters only where all of them count.
      const done = await Promise.all(found.map((message) => again(ports, stream, message, keeps)));
      moved += done.filter((stored) => stored).length;
      if (next === undefined || next > last) break;
      from = next + 1;
    }
    await jsm.streams.purge(stream, { seq: last + 1 });
    return moved;
  } catch (error) {
    throw toThroughlineError(error, `writing ${stream} again`);
  }
}

async function infoOf({ jsm }: TurnOverPorts, stream: string): Promise<StreamInfo | undefined> {
  try {
    return await jsm.streams.info(stream);
  } catch (error) {
    if (apiCode(error) === API.streamNotFound) return undefined;
    throw error;
  }
}

/** Fills up the block that is written to; gives the sequence behind which a new one begins. */
async function fill(ports: TurnOverPorts, { config }: StreamInfo, subject: string): Promise<number> {
  const most = config.max_msg_size > 0 ? config.max_msg_size : Number.POSITIVE_INFINITY;
  const payload = (ports.connection.info?.max_payload ?? 1024 * 1024) - ENVELOPE_BYTES;
  const chunk = new Uint8Array(Math.min(CHUNK_BYTES, payload, most - Math.min(most, subject.length + 100)));
  let last = 0;
  // One more than fits, in a block of its own.
  for (let bytes = 0; bytes <= BLOCK_BYTES; bytes += chunk.length) {
    last = await stored(ports, config.name, subject, chunk);
  }
  return last;
}

async function stored(
  { publisher }: TurnOverPorts,
  stream: string,
  subject: string,
  body: Uint8Array,
): Promise<number> {
  const published = await publisher.publish(subject, body, { stream });
  if (published.outcome === 'stored') return published.sequence;
  throw new ThroughlineError('unavailable', `stream ${stream} does not take ${subject}`);
}

/** Stores a message again; `false` where it is no longer the newest, and need not be. */
async function again(
  { publisher }: TurnOverPorts,
  stream: string,
  { sequence, subject, data, headers }: StreamMessage,
  keeps: TurnOverOptions['keeps'],
): Promise<boolean> {
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
    throw new ThroughlineError('unavailable', `stream ${stream} does not take ${subject}`);
  return published.outcome === 'stored';
}

/** Headers of a bucket's messages that say what they are; all others are about how they came to be stored. */
const KEPT_HEADERS: ReadonlySet<string> = new Set(['KV-Operation', 'Nats-TTL']);
