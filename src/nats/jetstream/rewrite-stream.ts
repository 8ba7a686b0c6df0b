import type { StreamInfo } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import type { AckedPublisher } from './acked-publisher.js';
import { batchFrom, type StreamMessage } from './direct-get.js';
import { BLOCK_BYTES, type ErasePorts } from './erase-messages.js';

/**
 * Rewrites a stream of current values, so that its files contain nothing else: a replaced or purged value otherwise stays in
 * its block file as long as half of the file is in use.
 *
 * The current block is filled up, so that all earlier files are closed; each value is stored again behind it with
 * compare-and-set; then everything before is purged, whole files at a time. The newest message of each subject has the same
 * value at all times. Older revisions are lost.
 */
export interface RewritePorts extends ErasePorts {
  readonly publisher: AckedPublisher;
}

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
 * Rewrites a stream and returns the number of messages; 0 if it does not exist. Can be repeated after a crash.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`, `store_full`; nothing is lost then
 */
export async function rewriteStream(
  ports: RewritePorts,
  stream: string,
  { prefix, keeps }: RewriteOptions,
): Promise<number> {
  const { jsm } = ports;
  try {
    const info = await ifExists(jsm.streams.info(stream));
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
      // Messages of one subject stay in order, which matters if all are kept.
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

/** Fills the current block; returns the last sequence before the next block. */
async function fill(ports: RewritePorts, { config }: StreamInfo, subject: string): Promise<number> {
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
  { publisher }: RewritePorts,
  stream: string,
  subject: string,
  body: Uint8Array,
): Promise<number> {
  const published = await publisher.publish(subject, body, { stream });
  if (published.outcome === 'stored') return published.sequence;
  throw new ThroughlineError('unavailable', `stream ${stream} has no subject ${subject}`);
}

/** Stores a message again; `false` if it is no longer the newest. */
async function again(
  { publisher }: RewritePorts,
  stream: string,
  { sequence, subject, data, headers }: StreamMessage,
  keeps: RewriteOptions['keeps'],
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
    throw new ThroughlineError('unavailable', `stream ${stream} has no subject ${subject}`);
  return published.outcome === 'stored';
}

/** Headers with meaning; all others describe how a message was stored. */
const KEPT_HEADERS: ReadonlySet<string> = new Set(['KV-Operation', 'Nats-TTL']);
