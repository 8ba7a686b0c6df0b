import type { JetStreamManager, StoredMsg } from 'nats';
import { ifExists } from '../connection/nats-errors.js';
import { batchFrom, foreignBy, type StreamMessage, type StreamPlace } from './direct-get.js';

/** Bytes per batch: the server disconnects a client with too much pending output. */
const BATCH_BYTES = 16 * 1024 * 1024;

/** The newest messages on some subjects, or the newest below a sequence. */
interface PageRequest extends StreamPlace {
  readonly filter: string;
  /** Exclusive upper bound. */
  readonly before?: number | undefined;
  readonly limit: number;
}

interface NewestPage {
  /** Newest first. */
  readonly messages: readonly StreamMessage[];
  readonly total: number;
  /** `before` of the next page; absent on the last one. */
  readonly next?: number;
}

/**
 * Reads a page of messages, newest first. The server reads only forwards, so a search finds the start, in about twenty steps,
 * by how many messages follow a sequence. Throws as `readStream`.
 */
export async function newestPage(request: PageRequest): Promise<NewestPage> {
  const { filter, before, limit } = request;
  const lookAt = async (seq: number): Promise<Place> => {
    const one = { seq, batch: 1, next_by_subj: filter };
    const { messages, pending } = await batchFrom(request, one);
    const [first] = messages;
    return { follow: first === undefined ? 0 : pending + 1, first: first?.sequence ?? seq };
  };
  const all = await lookAt(1);
  const newer = before === undefined ? 0 : (await lookAt(before)).follow;
  const wanted = Math.min(limit, all.follow - newer);
  if (wanted <= 0) return { messages: [], total: all.follow };
  const from = await placeOf(wanted + newer, all, before, lookAt);
  const read = await forwards({ ...request, from, limit: wanted, newer });
  const messages = read.slice(-limit).reverse();
  const last = messages.at(-1)?.sequence ?? all.first;
  return { messages, total: all.follow, ...(last > all.first && { next: last }) };
}

interface Place {
  /** Number of messages from there on. */
  readonly follow: number;
  /** Sequence of the first of them. */
  readonly first: number;
}

async function placeOf(
  wanted: number,
  all: Place,
  before: number | undefined,
  lookAt: (seq: number) => Promise<Place>,
): Promise<number> {
  if (wanted >= all.follow) return all.first;
  // The exact position in a dense stream; other subjects and removed messages only move it up.
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

/** Reads up to `before`. If messages were removed meanwhile it reads more, of which the newest are used. */
async function forwards(
  range: PageRequest & { readonly from: number; readonly newer: number },
): Promise<StreamMessage[]> {
  const { filter, from, before = Number.MAX_SAFE_INTEGER, limit, newer } = range;
  const found: StreamMessage[] = [];
  for (let seq = from; seq < before && found.length < 2 * limit; ) {
    const batch = Math.max(1, limit - found.length);
    const wanted = { seq, batch, max_bytes: BATCH_BYTES, next_by_subj: filter };
    const { messages, pending } = await batchFrom(range, wanted);
    const last = messages.at(-1);
    found.push(...messages.filter(({ sequence }) => sequence < before));
    if (last === undefined || pending <= newer) break;
    seq = last.sequence + 1;
  }
  return found;
}

/** Returns the newest message on a subject, foreign or not, or `undefined`. */
export function newestMessage(
  jsm: JetStreamManager,
  stream: string,
  subject: string,
): Promise<StoredMsg | undefined> {
  return ifExists(jsm.streams.getMessage(stream, { last_by_subj: subject }));
}

/** Returns the newest `read` that is defined; skips foreign messages, which must not hide older ones. */
export async function newestOf<T>(
  jsm: JetStreamManager,
  stream: string,
  subject: string,
  read: (message: StoredMsg) => T | undefined,
): Promise<T | undefined> {
  const ours = (message: StoredMsg) =>
    foreignBy(message.header, 'as_stored') === undefined ? read(message) : undefined;
  const newest = await newestMessage(jsm, stream, subject);
  const found = newest && ours(newest);
  if (newest === undefined || found !== undefined) return found;
  // The server cannot search backwards by subject.
  let older: T | undefined;
  for (let from = 1; from < newest.seq; ) {
    const message = await firstMessage(jsm, stream, subject, from);
    if (message === undefined) break;
    older = ours(message) ?? older;
    from = message.seq + 1;
  }
  return older;
}

/** Returns the newest message in the form of direct reads, but from the leader: a replica may lag. */
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

/** Returns the first message on a subject from a sequence on, from the leader, or `undefined`. */
export function firstMessage(
  jsm: JetStreamManager,
  stream: string,
  subject: string,
  from: number,
): Promise<StoredMsg | undefined> {
  const query = { seq: from, next_by_subj: subject };
  return ifExists(jsm.streams.getMessage(stream, query));
}
