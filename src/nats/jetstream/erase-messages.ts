import type { JetStreamManager, NatsConnection } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { batchesOf } from './direct-get.js';
import { firstMessage } from './newest-page.js';

/**
 * Removes messages of a stream so that its files do not hold them any longer.
 *
 * A purge by subject only marks messages as removed: their text stays in the block file until the server rewrites that file,
 * which it does only once more than half of it is removed. A message that is deleted with erasing is overwritten at once: the
 * server writes its block, of up to 8 MB, again. That takes milliseconds for each message, so where a block holds
 * nothing else, it is removed whole by a purge.
 */
export interface ErasePorts {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  /** Longest wait for one answer of the server, in milliseconds. */
  readonly timeoutMs: number;
}

interface EraseOptions {
  /** Only messages up to this sequence. Default: all. */
  readonly through?: number;
  /** Half of the time is left to others also where it is few. */
  readonly unhurried?: boolean;
  /** Told how many are there, before any is gone. */
  readonly onFound?: (messages: number) => void;
  /** Asked before each message, or block of messages: where it throws, what is left stays. */
  readonly mayGoOn?: () => Promise<void> | undefined;
  /** Told after each message, or block of messages, how many are gone. */
  readonly onErased?: (messages: number) => void;
}

/** The largest block file of the server, in bytes. */
export const BLOCK_BYTES = 8 * 1024 * 1024;
/** So many are erased without pausing; of more, others get half of the time of the stream. */
const UNPAUSED = 500;
/** Between two looks at a replica that lags behind. */
const LAG_PAUSE_MS = 20;
/** Fewer are not worth a purge. */
const LEAST_PURGED = 64;

interface Placed {
  readonly sequence: number;
  /** Bytes that it takes at least. */
  readonly bytes: number;
}

/**
 * Erases the messages on some subjects. Gives how many there were; a stream that is not there has none. It ends when the
 * leader of the stream holds none any more: a replica that lags behind does not show what came last.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`; what was erased by then is gone
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
      options.onFound?.(found.length);
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
  { unhurried = false, mayGoOn, onErased }: EraseOptions,
): Promise<void> {
  const pauses = unhurried || found.length > UNPAUSED;
  for (const { single, whole } of erasures(found)) {
    for (const { sequence } of single) {
      await mayGoOn?.();
      const started = performance.now();
      await eraseOne(jsm, stream, sequence);
      onErased?.(1);
      if (pauses) await pause(performance.now() - started);
    }
    const last = whole.at(-1);
    if (last === undefined) continue;
    await mayGoOn?.();
    // What came before has been erased: it takes these alone.
    await jsm.streams.purge(stream, { filter, seq: last.sequence + 1 });
    onErased?.(whole.length);
  }
}

/** In the order of the stream: some messages that are erased one by one, then some that fill whole blocks. */
interface Erasure {
  readonly single: readonly Placed[];
  readonly whole: readonly Placed[];
}

/**
 * Which messages fill whole blocks: those that have a block's worth of others without a gap both before and after them. No
 * message of anyone else can be in their block.
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

/** How many of the first messages take a block's bytes together. */
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
