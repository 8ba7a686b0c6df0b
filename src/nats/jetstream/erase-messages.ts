import type { StreamInfo } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { pause } from '../../engine/runtime/pacing.js';
import { maxPayload } from '../connection/connect-nats.js';
import { API, apiCode, ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { batchFrom, type StreamMessage } from './direct-get.js';
import { firstMessage } from './newest-page.js';
import type { StorePorts } from './topology.js';

export type ErasePorts = Omit<StorePorts, 'replicas'>;

interface EraseOptions {
  /** Inclusive start. Default: the first. */
  readonly from?: number;
  /** Inclusive end. Default: all. */
  readonly through?: number;
  /** Yields half of the time to other work even for few messages. */
  readonly unhurried?: boolean;
  /** Called before each message; if it throws, the rest stays. */
  readonly mayGoOn?: () => void;
}

/** Messages erased without pauses; with more, half of the time is left to others. */
const UNPAUSED = 500;

/**
 * Erases the messages on some subjects from a stream and its files, oldest first, and returns their number; 0 if the stream does
 * not exist.
 *
 * A purge by subject only marks messages: their text stays in the block file until more than half of it is removed. A secure
 * delete overwrites immediately, but the server rewrites the whole block of up to 8 MB, which takes milliseconds per message.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`; messages erased by then are gone
 */
export async function eraseMessages(
  { jsm }: ErasePorts,
  stream: string,
  filter: string,
  { from: first = 1, through = Number.MAX_SAFE_INTEGER, unhurried = false, mayGoOn }: EraseOptions = {},
): Promise<number> {
  try {
    for (let [erased, from] = [0, first]; ; erased += 1) {
      // From the leader: a lagging replica does not show the newest.
      const next = await firstMessage(jsm, stream, filter, from);
      if (next === undefined || next.seq > through) return erased;
      mayGoOn?.();
      const started = performance.now();
      await jsm.streams.deleteMessage(stream, next.seq, true).catch((error: unknown) => {
        // Someone else was faster.
        if (apiCode(error) !== API.sequenceNotFound && apiCode(error) !== API.messageNotFound) throw error;
      });
      if (unhurried || erased >= UNPAUSED) await pause(performance.now() - started);
      from = next.seq + 1;
    }
  } catch (error) {
    throw toThroughlineError(error, `erasing messages of ${stream}`);
  }
}

/** The server's largest block file, in bytes. */
export const BLOCK_BYTES = 8 * 1024 * 1024;
/** Longer than any name. */
const FILLER = 'filler'.padEnd(65, '-');
const CHUNK_BYTES = 512 * 1024;
const ENVELOPE_BYTES = 4096;
const BATCH = 200;
const BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Rewrites a bucket, or the stream of prompts, if it exists, so that its files contain only current values: a replaced or purged
 * value otherwise stays in its block file as long as half of the file is in use. Can be repeated after a crash.
 *
 * The current block is filled up, so that all earlier files are closed; each value is stored again behind it, in a bucket with
 * compare-and-set; then everything before is purged, whole files at a time. The newest message of each subject has the same
 * value at all times. Older revisions are lost.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`, `store_full`; nothing is lost then
 */
export async function rewriteStream(ports: ErasePorts, stream: string): Promise<void> {
  const { jsm, connection, timeoutMs } = ports;
  try {
    const info = await ifExists(jsm.streams.info(stream));
    if (info === undefined) return;
    const filler = `${info.config.subjects[0]?.replace(/[*>]$/, '')}${FILLER}`;
    const last = await fill(ports, info, filler);
    await jsm.streams.purge(stream, { filter: filler });
    for (let from = 1; from <= last; ) {
      const wanted = { seq: from, batch: BATCH, max_bytes: BATCH_BYTES, next_by_subj: '>' };
      const { messages } = await batchFrom({ connection, stream, timeoutMs }, wanted);
      const old = messages.filter(({ sequence }) => sequence <= last);
      // Messages of one subject stay in order, which matters for prompts.
      await Promise.all(old.map((message) => storeAgain(ports, stream, message)));
      from = (messages.at(-1)?.sequence ?? last) + 1;
    }
    await jsm.streams.purge(stream, { seq: last + 1 });
  } catch (error) {
    throw toThroughlineError(error, `writing ${stream} again`);
  }
}

/** Fills the current block; returns the last sequence before the next block. */
async function fill(ports: ErasePorts, { config }: StreamInfo, subject: string): Promise<number> {
  const most = config.max_msg_size > 0 ? config.max_msg_size : Number.POSITIVE_INFINITY;
  const payload = maxPayload(ports.connection) - ENVELOPE_BYTES;
  const chunk = new Uint8Array(Math.min(CHUNK_BYTES, payload, most - Math.min(most, subject.length + 100)));
  let last = 0;
  // One more than fits, which starts a new block.
  for (let bytes = 0; bytes <= BLOCK_BYTES; bytes += chunk.length) {
    const published = await ports.publisher.publish(subject, chunk, { stream: config.name });
    if (published.outcome !== 'stored') throw noSubject(config.name, subject);
    last = published.sequence;
  }
  return last;
}

/** Stores a message again; in a bucket, unless it is no longer the newest. */
async function storeAgain(
  { publisher }: ErasePorts,
  stream: string,
  { sequence, subject, data, headers }: StreamMessage,
): Promise<void> {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) if (headers?.has(name)) kept[name] = headers.get(name);
  const published = await publisher.publish(subject, data, {
    stream,
    headers: kept,
    ...(stream.startsWith('KV_') && { expectedLastOfSubjects: { sequence, subjects: subject } }),
  });
  if (published.outcome === 'no_stream') throw noSubject(stream, subject);
}

/** Headers with meaning; all others describe how a message was stored. */
const KEPT_HEADERS = ['KV-Operation', 'Nats-TTL'];

function noSubject(stream: string, subject: string): ThroughlineError {
  return new ThroughlineError('unavailable', `stream ${stream} has no subject ${subject}`);
}
