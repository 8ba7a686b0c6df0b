import type { Msg, MsgHdrs, NatsConnection } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import { newInbox, onDenied } from '../connection/connect-nats.js';
import { foreignBy } from './stored-replies.js';

/**
 * Batch direct get, spoken by hand: the client's own reader stops at an empty payload and knows no start sequence.
 *
 * One request asks for up to `BATCH` messages of a stream from a sequence on; each comes as a message of its own,
 * and a status message ends the batch: 204 with the number of messages still pending, or 404 for none at all.
 */
const BATCH = 1000;

export interface StreamMessage {
  readonly sequence: number;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers: MsgHdrs | undefined;
  /** Set for a foreign message, with what it is: it must not count. */
  readonly foreign?: string;
}

/** What to read: from a sequence on, or what was stored since a time, ISO 8601. */
type StreamRange = ({ readonly from: number } | { readonly since: string }) & {
  readonly through?: number;
  readonly limit?: number;
};

/** Where a batch begins, in the server's own words. */
export interface Begin {
  readonly seq?: number;
  readonly start_time?: string;
}

/** What a batch holds: messages in their order, or the newest of each subject that one of the filters takes. */
type BatchWanted =
  | (Begin & { readonly batch: number; readonly max_bytes?: number; readonly next_by_subj: string })
  | { readonly multi_last: readonly string[] };

/** One batch, and how many more messages wait behind it. */
interface Batch {
  readonly messages: StreamMessage[];
  readonly pending: number;
  /** Last sequence of the replica that answered; 0 unless the newest of each subject was asked for. */
  readonly upTo: number;
}

/**
 * Reads all messages of a stream from a place on, through `through` and at most `limit` if given. A missing stream gives
 * none.
 *
 * @throws ThroughlineError `unavailable` when the server does not answer within `timeoutMs`,
 * `permission_denied` when the user may not
 */
export async function readStream(
  connection: NatsConnection,
  stream: string,
  filter: string,
  range: StreamRange,
  timeoutMs: number,
): Promise<StreamMessage[]> {
  const found: StreamMessage[] = [];
  const { through = Number.MAX_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER } = range;
  const begin: Begin = 'since' in range ? { start_time: range.since } : { seq: range.from };
  // No more than the range can hold is asked for: many reads of one message each would else bring a thousand each.
  const most = Math.min(limit, through - (begin.seq ?? 1) + 1);
  if (most < 1) return found;
  for await (const messages of batchesOf(connection, stream, filter, begin, timeoutMs, most)) {
    for (const message of messages) {
      if (message.sequence > through) return found;
      found.push(message);
    }
    if ((messages.at(-1)?.sequence ?? 0) >= through) return found;
  }
  return found;
}

/**
 * The same for what most often holds nothing or little, in a stream with much else: the first message is asked for alone.
 * For a batch the server counts what is pending, for which it may have to load what was stored long ago.
 *
 * @throws as `readNext` and `readStream`; a missing stream is a fault here
 */
export async function readTail(
  connection: NatsConnection,
  stream: string,
  filter: string,
  range: { readonly from: number; readonly through?: number; readonly limit?: number },
  timeoutMs: number,
): Promise<StreamMessage[]> {
  const { from, through = Number.MAX_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER } = range;
  if (from > through) return [];
  const first = await readNext(connection, stream, filter, from, timeoutMs);
  if (first === undefined || first.sequence > through) return [];
  const rest = { from: first.sequence + 1, through, limit: limit - 1 };
  return [first, ...(await readStream(connection, stream, filter, rest, timeoutMs))];
}

/**
 * The same batch by batch, for what need not be in memory at once. Throws as `readStream`.
 *
 * What is stored while it reads may be missing: where events come in faster than they are read, it would never end.
 */
export async function* batchesOf(
  connection: NatsConnection,
  stream: string,
  filter: string,
  begin: Begin,
  timeoutMs: number,
  limit = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<readonly StreamMessage[]> {
  let next = begin;
  for (let left = limit; left > 0; ) {
    const wanted = { ...next, batch: Math.min(BATCH, left), next_by_subj: filter };
    const { messages, pending } = await batchFrom(connection, stream, wanted, timeoutMs);
    const last = messages.at(-1);
    if (last !== undefined) yield messages;
    if (last === undefined) return;
    // The first batch counted them; some may have been removed after that.
    left = Math.min(left - messages.length, pending);
    next = { seq: last.sequence + 1 };
  }
}

/**
 * Batches that a connection reads at once; others wait. A few hundred requests that each read a log would else have the server
 * send more than it may have pending, and cut the connection off.
 */
const AT_ONCE = 4;
const turns = new WeakMap<NatsConnection, Semaphore>();

function turnsOf(connection: NatsConnection): Semaphore {
  const known = turns.get(connection) ?? new Semaphore(AT_ONCE);
  turns.set(connection, known);
  return known;
}

/**
 * Reads the newest message on a subject, or gives `undefined` where there is none.
 *
 * @throws what the request throws: without an answer, without a stream, or where the user may not
 */
export async function readLast(
  connection: NatsConnection,
  stream: string,
  subject: string,
  timeoutMs: number,
): Promise<StreamMessage | undefined> {
  return readOne(connection, stream, `$JS.API.DIRECT.GET.${stream}.${subject}`, '', timeoutMs);
}

/**
 * Reads the first message of some subjects from a sequence on, or gives `undefined` where there is none. Unlike a batch,
 * it does not make the server count what follows, which takes long where other messages come in.
 *
 * @throws what the request throws: without an answer, without a stream, or where the user may not
 */
export function readNext(
  connection: NatsConnection,
  stream: string,
  filter: string,
  from: number,
  timeoutMs: number,
): Promise<StreamMessage | undefined> {
  const wanted = JSON.stringify({ seq: from, next_by_subj: filter });
  return readOne(connection, stream, `$JS.API.DIRECT.GET.${stream}`, wanted, timeoutMs);
}

async function readOne(
  connection: NatsConnection,
  stream: string,
  request: string,
  wanted: string,
  timeoutMs: number,
): Promise<StreamMessage | undefined> {
  const message = await connection.request(request, wanted, { timeout: timeoutMs });
  const status = message.headers?.code ?? 0;
  if (status === 0) return streamMessage(message);
  if (status === 404) return undefined;
  throw new ThroughlineError('internal', `${stream} cannot be read: status ${status}`);
}

/** Reads one batch, in turn. Throws as `readStream`; the wait for its turn does not count. */
export function batchFrom(
  connection: NatsConnection,
  stream: string,
  wanted: BatchWanted,
  timeoutMs: number,
): Promise<Batch> {
  return turnsOf(connection).run(() => batchNow(connection, stream, wanted, timeoutMs));
}

function batchNow(
  connection: NatsConnection,
  stream: string,
  wanted: BatchWanted,
  timeoutMs: number,
): Promise<Batch> {
  return new Promise((resolve, reject) => {
    const inbox = newInbox(connection);
    const messages: StreamMessage[] = [];
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      listening();
      subscription.unsubscribe();
      finish();
    };
    // First of all, since a closed connection throws here: no timer must be left behind then.
    const subscription = connection.subscribe(inbox, {
      callback(error, message) {
        if (error) return settle(() => reject(error));
        const status = message.headers?.code ?? 0;
        // The server strips a status that a stored message may have had: one that comes is its own.
        if (status === 0) messages.push(streamMessage(message));
        else if (status === 204)
          settle(() =>
            resolve({
              messages,
              pending: header(message, 'Nats-Num-Pending'),
              upTo: header(message, 'Nats-UpTo-Sequence'),
            }),
          );
        // 404: no such message; 503: no such stream. Neither has anything to read.
        else if (status === 404 || status === 503) settle(() => resolve({ messages, pending: 0, upTo: 0 }));
        else
          settle(() =>
            reject(new ThroughlineError('internal', `${stream} cannot be read: status ${status}`)),
          );
      },
    });
    const request = `$JS.API.DIRECT.GET.${stream}`;
    const listening = onDenied(connection, ({ subject, fault }) => {
      if (subject === request || subject === inbox) settle(() => reject(fault));
    });
    const timer = setTimeout(() => {
      settle(() =>
        reject(new ThroughlineError('unavailable', `${stream} was not read within ${timeoutMs} ms`)),
      );
    }, timeoutMs);
    try {
      connection.publish(request, JSON.stringify(wanted), { reply: inbox });
    } catch (error) {
      settle(() => reject(error));
    }
  });
}

function streamMessage(message: Msg): StreamMessage {
  const foreign = foreignBy(message.headers, 'direct_get');
  return {
    sequence: header(message, 'Nats-Sequence'),
    subject: message.headers?.last('Nats-Subject') ?? '',
    data: message.data,
    headers: message.headers,
    ...(foreign !== undefined && { foreign }),
  };
}

/** The server's own header comes last: the publisher of the message may have written one of the same name before it. */
function header(message: Msg, name: string): number {
  return Number(message.headers?.last(name) ?? 0);
}
