import type { JetStreamManager, NatsConnection, StoredMsg } from 'nats';
import { API, apiCode } from '../connection/nats-errors.js';
import { batchFrom, type StreamMessage } from './direct-get.js';
import { foreignBy } from './stored-replies.js';

/** Bytes of one batch: the server cuts off a connection for which too much waits. */
const BATCH_BYTES = 16 * 1024 * 1024;

/** What to read: the newest messages of some subjects, or the newest below a place. */
interface PageAsked {
  readonly stream: string;
  readonly filter: string;
  /** Only messages with lower sequences. */
  readonly before?: number | undefined;
  readonly limit: number;
}

interface NewestPage {
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

/** The newest message on a subject, whatever it is, or `undefined`. */
export function newestMessage(
  jsm: JetStreamManager,
  stream: string,
  subject: string,
): Promise<StoredMsg | undefined> {
  return messageAt(jsm, stream, { last_by_subj: subject });
}

/** How much farther back each look begins than the one before it. */
const WIDER = 8;

/**
 * What `read` makes of the newest message on a subject that it makes something of; `undefined` where there is none. What
 * is foreign is passed over: however much of it was stored last, it must not hide what stands before it.
 */
export async function newestOf<T>(
  jsm: JetStreamManager,
  stream: string,
  subject: string,
  read: (message: StoredMsg) => T | undefined,
): Promise<T | undefined> {
  const ours = (message: StoredMsg) =>
    foreignBy(message.header, 'as_stored') === undefined ? read(message) : undefined;
  const newest = await newestMessage(jsm, stream, subject);
  if (newest === undefined) return undefined;
  let found = ours(newest);
  // The server finds no message backwards by subject: each look begins farther back, and goes up to the one before.
  for (let [before, width] = [newest.seq, WIDER]; found === undefined && before > 1; width *= WIDER) {
    const from = Math.max(1, before - width);
    for (let seq = from; seq < before; ) {
      const message = await firstMessage(jsm, stream, subject, seq);
      if (message === undefined || message.seq >= before) break;
      found = ours(message) ?? found;
      seq = message.seq + 1;
    }
    before = from;
  }
  return found;
}

/** The same as direct reads give it. A replica may lag behind; the leader of the stream, which this asks, does not. */
export async function newestStored(
  jsm: JetStreamManager,
  stream: string,
  subject: string,
): Promise<StreamMessage | undefined> {
  const message = await newestMessage(jsm, stream, subject);
  if (message === undefined) return undefined;
  const { seq: sequence, data, header: headers } = message;
  const foreign = foreignBy(headers, 'as_stored');
  return { sequence, subject: message.subject, data, headers, ...(foreign !== undefined && { foreign }) };
}

/** The first message on a subject from a sequence on, as the leader of the stream has it, or `undefined`. */
export function firstMessage(
  jsm: JetStreamManager,
  stream: string,
  subject: string,
  from: number,
): Promise<StoredMsg | undefined> {
  return messageAt(jsm, stream, { seq: from, next_by_subj: subject });
}

async function messageAt(
  jsm: JetStreamManager,
  stream: string,
  query: { readonly last_by_subj: string } | { readonly seq: number; readonly next_by_subj: string },
): Promise<StoredMsg | undefined> {
  try {
    return await jsm.streams.getMessage(stream, query);
  } catch (error) {
    const code = apiCode(error);
    // Any other fault must not pass for "none": sequences would come again.
    if (code === API.messageNotFound || code === API.streamNotFound) return undefined;
    throw error;
  }
}
