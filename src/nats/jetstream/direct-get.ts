import type { Msg, MsgHdrs, NatsConnection } from 'nats';
import type { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import { Semaphore } from '../../engine/runtime/pacing.js';
import { jsonOf } from '../../shared/text.js';
import { newInbox, onDenied } from '../connection/connect-nats.js';

/**
 * Batch direct get, implemented by hand because the client's reader stops at an empty payload and has no start sequence.
 *
 * One request returns up to `BATCH` messages from a sequence on. A status message ends the batch: 204 with the number of
 * pending messages, or 404 for none.
 */
const BATCH = 1000;

export interface StreamMessage {
  readonly sequence: number;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers: MsgHdrs | undefined;
  /** Describes a foreign message, which must not count. */
  readonly foreign?: string;
}

/** The stream to read, and the deadline of one answer of the server. */
export interface StreamPlace {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly timeoutMs: number;
}

interface StreamRange {
  readonly from: number;
  readonly through?: number;
  readonly limit?: number;
}

/** Messages in order from a sequence or a time, or the newest of each subject that a filter matches. */
type BatchWanted =
  | (({ readonly seq: number } | { readonly start_time: string }) & {
      readonly batch: number;
      readonly max_bytes?: number;
      readonly next_by_subj: string;
    })
  | { readonly multi_last: readonly string[] };

interface Batch {
  readonly messages: StreamMessage[];
  readonly pending: number;
  /** Last sequence of the answering replica; 0 unless `multi_last` was requested. */
  readonly upTo: number;
}

/** Reads messages of a stream; a missing one has none. Throws `unavailable` after `timeoutMs`, `permission_denied`. */
export async function readStream(place: StreamPlace, filter: string, range: StreamRange) {
  const found: StreamMessage[] = [];
  const { from, through = Number.MAX_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER } = range;
  // Request no more than the range can hold: many reads of one message would otherwise transfer a thousand each.
  const most = Math.min(limit, through - from + 1);
  if (most < 1) return found;
  for await (const messages of batchesOf(place, filter, from, most)) {
    for (const message of messages) {
      if (message.sequence > through) return found;
      found.push(message);
    }
    if ((messages.at(-1)?.sequence ?? 0) >= through) return found;
  }
  return found;
}

/**
 * Reads a range that is usually empty or short, in a stream with many other messages: the first message is requested alone,
 * because for a batch the server counts pending messages, which may load old blocks.
 *
 * @throws the client's errors: no answer, stream or permission; and as `readStream`
 */
export async function readTail(place: StreamPlace, filter: string, range: StreamRange) {
  const { from, through = Number.MAX_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER } = range;
  if (from > through) return [];
  const wanted = JSON.stringify({ seq: from, next_by_subj: filter });
  const first = await readOne(place, `$JS.API.DIRECT.GET.${place.stream}`, wanted);
  if (first === undefined || first.sequence > through) return [];
  const rest = { from: first.sequence + 1, through, limit: limit - 1 };
  return [first, ...(await readStream(place, filter, rest))];
}

/** Reads batch by batch. Throws as `readStream`. Messages stored meanwhile may be missing: else it might never end. */
export async function* batchesOf(
  place: StreamPlace,
  filter: string,
  from: number,
  limit = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<readonly StreamMessage[]> {
  let seq = from;
  for (let left = limit; left > 0; ) {
    const wanted = { seq, batch: Math.min(BATCH, left), next_by_subj: filter };
    const { messages, pending } = await batchFrom(place, wanted);
    const last = messages.at(-1);
    if (last !== undefined) yield messages;
    if (last === undefined) return;
    // The first batch counted them; some may have been removed since.
    left = Math.min(left - messages.length, pending);
    seq = last.sequence + 1;
  }
}

/** Concurrent batches per connection. Hundreds would exceed what the server buffers for it, and it would close it. */
const AT_ONCE = 4;
const turns = new WeakMap<NatsConnection, Semaphore>();

/** Returns the newest message on a subject, if any. Throws the client's errors: no answer, stream or permission. */
export function readLast(place: StreamPlace, subject: string): Promise<StreamMessage | undefined> {
  return readOne(place, `$JS.API.DIRECT.GET.${place.stream}.${subject}`, '');
}

async function readOne({ connection, stream, timeoutMs }: StreamPlace, request: string, wanted: string) {
  const message = await connection.request(request, wanted, { timeout: timeoutMs });
  const status = message.headers?.code ?? 0;
  if (status === 0) return streamMessage(message);
  if (status === 404) return undefined;
  throw cannotRead(stream, status);
}

/** Reads one batch. Throws as `readStream`; queueing does not count towards the timeout. */
export function batchFrom(place: StreamPlace, wanted: BatchWanted): Promise<Batch> {
  const { connection, stream, timeoutMs } = place;
  const waiting = turns.get(connection) ?? new Semaphore(AT_ONCE);
  turns.set(connection, waiting);
  const read = () =>
    new Promise<Batch>((resolve, reject) => {
      const inbox = newInbox(connection);
      const request = `$JS.API.DIRECT.GET.${stream}`;
      const messages: StreamMessage[] = [];
      const end = () => {
        clearTimeout(timer);
        listening();
        subscription.unsubscribe();
      };
      const fail = (error: unknown) => {
        end();
        reject(error);
      };
      // First, because it throws on a closed connection: no timer may be left behind then.
      const subscription = connection.subscribe(inbox, {
        callback(error, message) {
          if (error) return fail(error);
          const status = message.headers?.code ?? 0;
          // The server strips a stored status header, so a status is its own.
          if (status === 0) return void messages.push(streamMessage(message));
          // 404: no message. 503: no stream.
          if (![204, 404, 503].includes(status)) return fail(cannotRead(stream, status));
          end();
          const pending = header(message, 'Nats-Num-Pending');
          resolve({ messages, pending, upTo: header(message, 'Nats-UpTo-Sequence') });
        },
      });
      const listening = onDenied(connection, ({ subject, fault }) => {
        if (subject === request || subject === inbox) fail(fault);
      });
      const late = `reading ${stream} timed out after ${timeoutMs} ms`;
      const timer = setTimeout(() => fail(new ThroughlineError('unavailable', late)), timeoutMs);
      try {
        connection.publish(request, JSON.stringify(wanted), { reply: inbox });
      } catch (error) {
        fail(error);
      }
    });
  return waiting.run(read);
}

function cannotRead(stream: string, status: number): ThroughlineError {
  return new ThroughlineError('internal', `${stream} cannot be read: status ${status}`);
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

/** Returns the value in a stored message; undefined for a foreign message, or a value that a schema refuses. */
export function valueIn<Schema extends z.ZodType>(
  schema: Schema,
  message: StreamMessage | undefined,
): z.output<Schema> | undefined {
  if (message === undefined || message.foreign !== undefined) return undefined;
  return schema.safeParse(jsonOf(message.data)).data;
}

/** Uses the last header of a name: the server appends its own behind the publisher's. */
function header(message: Msg, name: string): number {
  return Number(message.headers?.last(name) ?? 0);
}

/**
 * NATS does not check the reply subject of a request: anyone who may send a request can have the reply stored in a stream. Such
 * a message is foreign: no authorised publisher sent it, and it must not count.
 *
 * A stored message that the server copies into a reply has the server's headers, which identify it even if its body is a valid
 * event. Other replies are recognised by their form.
 */

/** A direct get adds the server's headers to the stored ones. */
type ReadBy = 'direct_get' | 'as_stored';

/** Headers that the server adds to a direct get, and that our publishers never write. */
const COPIED: ReadonlySet<string> = new Set([
  'Nats-Stream',
  'Nats-Subject',
  'Nats-Sequence',
  'Nats-Time-Stamp',
  'Nats-Last-Sequence',
  'Nats-Num-Pending',
]);
const ANSWERED: ReadonlySet<string> = new Set(['Nats-Service-Error', 'Nats-Service-Error-Code']);

/** Describes a stored message that is foreign by its headers; else `undefined`. */
export function foreignBy(headers: MsgHdrs | undefined, readBy: ReadBy): string | undefined {
  if (headers === undefined) return undefined;
  const expected = readBy === 'direct_get' ? 1 : 0;
  for (const [name, values] of headers) {
    if (COPIED.has(name) && values.length > expected) {
      // The stored header precedes the server's.
      const [stream = '?'] = headers.values('Nats-Stream');
      const [sequence = '?'] = headers.values('Nats-Sequence');
      return `a copy of message ${sequence} of ${stream}`;
    }
    if (ANSWERED.has(name)) return 'the answer of a service';
  }
  return undefined;
}

const MAX_PUB_ACK = 2048;

/**
 * Describes a foreign message by headers and body, for a stream that stores any body: a result is never a PubAck or a reply of
 * JetStream or the services' protocol. An empty body is ambiguous (a reply to an empty read, or a result with a PubAck), and
 * therefore not foreign.
 */
export function foreignDispatch(headers: MsgHdrs | undefined, data: Uint8Array): string | undefined {
  const foreign = foreignBy(headers, 'as_stored');
  if (foreign !== undefined) return foreign;
  return isServerAnswer(data) ? 'an answer of the server' : undefined;
}

const utf8 = new TextDecoder();
/** The services' protocol puts its type last, but little precedes it. */
const ANSWER = /"type":"io\.nats\.|^\{"(?:stream|error)":/;

/** The usual beginning of a result, and never of a reply. */
const RESULT = Buffer.from('{"task_id"');

function isServerAnswer(data: Uint8Array): boolean {
  // "{": a text around a result does not begin so, and a result that is one object is not a reply.
  if (data[0] !== 0x7b || RESULT.every((byte, at) => data[at] === byte)) return false;
  if (!ANSWER.test(utf8.decode(data.subarray(0, MAX_PUB_ACK)))) return false;
  const json = jsonOf(data);
  if (typeof json !== 'object' || json === null) return false;
  const { type, stream, seq }: { type?: unknown; stream?: unknown; seq?: unknown } = json;
  if (typeof type === 'string') return type.startsWith('io.nats.');
  return typeof stream === 'string' && typeof seq === 'number' && !('task_id' in json);
}
