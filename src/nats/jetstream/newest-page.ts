import type { NatsConnection } from 'nats';
import { batchFrom, type StreamMessage } from './direct-get.js';

/** Bytes of one batch: the server cuts off a connection for which too much waits. */
const BATCH_BYTES = 16 * 1024 * 1024;

/** What to read: the newest messages of some subjects, or the newest below a place. */
export interface PageAsked {
  readonly stream: string;
  readonly filter: string;
  /** Only messages with lower sequences. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface NewestPage {
  /** The newest first. */
  readonly messages: readonly StreamMessage[];
  /** All messages on these subjects. */
  readonly total: number;
  /** `before` of the next page; left out on the last one. */
  readonly next?: number;
}

/**
 * Reads a page of messages, the newest first, and no more than the page. The server reads forwards only: where the page
 * begins is found by asking how many messages follow a place, in some twenty steps at most.
 *
 * @throws what `readStream` throws
 */
export async function newestPage(
  connection: NatsConnection,
  { stream, filter, before, limit }: PageAsked,
  timeoutMs: number,
): Promise<NewestPage> {
  const lookAt = async (seq: number): Promise<Place> => {
    const one = { seq, batch: 1, next_by_subj: filter };
    const { messages, pending } = await batchFrom(connection, stream, one, timeoutMs);
    const [first] = messages;
    return { follow: first === undefined ? 0 : pending + 1, first: first?.sequence ?? seq };
  };
  const all = await lookAt(1);
  const behind = before === undefined ? 0 : (await lookAt(before)).follow;
  const wanted = Math.min(limit, all.follow - behind);
  if (wanted <= 0) return { messages: [], total: all.follow };
  const from = await placeOf(wanted + behind, all, before, lookAt);
  const read = await forwards(connection, { stream, filter, from, before, limit: wanted, behind }, timeoutMs);
  const messages = read.slice(-limit).reverse();
  const last = messages.at(-1)?.sequence ?? all.first;
  return { messages, total: all.follow, ...(last > all.first && { next: last }) };
}

/** A place, as the server tells of it. */
interface Place {
  /** How many messages stand there and behind it. */
  readonly follow: number;
  /** Sequence of the first of them. */
  readonly first: number;
}

/** The sequence behind which so many messages stand, the first of them included. */
async function placeOf(
  wanted: number,
  all: Place,
  before: number | undefined,
  lookAt: (seq: number) => Promise<Place>,
): Promise<number> {
  if (wanted >= all.follow) return all.first;
  // There it is where nothing lies in between: other subjects, and what was removed, only move it up.
  let low = all.first + all.follow - wanted;
  let high = before;
  let at = low;
  for (let width = wanted; high === undefined || high - low > 1; width *= 4) {
    const { follow, first } = await lookAt(at);
    if (follow === wanted) return first;
    if (follow > wanted) low = Math.max(at, first);
    else high = at;
    at = high === undefined ? low + width : Math.floor((low + high) / 2);
  }
  return low;
}

/** Reads up to `before`. What was removed meanwhile makes it read more, of which the newest count. */
async function forwards(
  connection: NatsConnection,
  asked: PageAsked & { readonly from: number; readonly behind: number },
  timeoutMs: number,
): Promise<StreamMessage[]> {
  const { stream, filter, from, before = Number.MAX_SAFE_INTEGER, limit, behind } = asked;
  const found: StreamMessage[] = [];
  for (let seq = from; seq < before && found.length < 2 * limit; ) {
    const batch = Math.max(1, limit - found.length);
    const wanted = { seq, batch, max_bytes: BATCH_BYTES, next_by_subj: filter };
    const { messages, pending } = await batchFrom(connection, stream, wanted, timeoutMs);
    const last = messages.at(-1);
    found.push(...messages.filter(({ sequence }) => sequence < before));
    if (last === undefined || pending <= behind) break;
    seq = last.sequence + 1;
  }
  return found;
}
