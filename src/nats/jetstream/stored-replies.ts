import type { MsgHdrs } from 'nats';
import { jsonOf } from '../../contracts/event.js';

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
    if (COPIED.has(name) && values.length > expected) return copyOf(headers);
    if (ANSWERED.has(name)) return 'the answer of a service';
  }
  return undefined;
}

/** The stored header precedes the server's. */
function copyOf(headers: MsgHdrs): string {
  const [stream = '?'] = headers.values('Nats-Stream');
  const [sequence = '?'] = headers.values('Nats-Sequence');
  return `a copy of message ${sequence} of ${stream}`;
}

/** Largest PubAck, in bytes. */
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
