import type { MsgHdrs } from 'nats';
import { jsonOf } from '../../contracts/event.js';

/**
 * NATS does not check the reply subject of a request: anyone who may ask for something can have the answer stored in a
 * stream that takes the reply subject. Such a message is foreign: no user with the right to publish there published it,
 * and it must not count, whatever it says.
 *
 * A stored message that the server copies into an answer gets headers of the server's own. They tell it apart, also when
 * its body is a valid event. What else a server answers has a form of its own.
 */

/** How a message was read: a direct get adds the headers of the server to those that are stored. */
type ReadBy = 'direct_get' | 'as_stored';

/** Headers that the server adds to what a direct get gives, and that no publisher of ours writes. */
const COPIED: ReadonlySet<string> = new Set([
  'Nats-Stream',
  'Nats-Subject',
  'Nats-Sequence',
  'Nats-Time-Stamp',
  'Nats-Last-Sequence',
  'Nats-Num-Pending',
]);
const ANSWERED: ReadonlySet<string> = new Set(['Nats-Service-Error', 'Nats-Service-Error-Code']);

/** By its headers: what a stored message is where it is foreign, or `undefined`. */
export function foreignBy(headers: MsgHdrs | undefined, readBy: ReadBy): string | undefined {
  if (headers === undefined) return undefined;
  const own = readBy === 'direct_get' ? 1 : 0;
  for (const [name, values] of headers) {
    if (COPIED.has(name) && values.length > own) return copyOf(headers);
    if (ANSWERED.has(name)) return 'the answer of a service';
  }
  return undefined;
}

/** The first stored comes first. */
function copyOf(headers: MsgHdrs): string {
  const [stream = '?'] = headers.values('Nats-Stream');
  const [sequence = '?'] = headers.values('Nats-Sequence');
  return `a copy of message ${sequence} of ${stream}`;
}

/** Longest answer to a publish, in bytes. */
const MAX_PUB_ACK = 2048;

/**
 * By headers and body, for a stream that takes any body: no result is the answer to a publish, and none is an answer of
 * JetStream or of the services' protocol. An empty body may be the answer to a read of nothing, or a result whose publisher
 * has a PubAck for it: nobody can tell, so it is not foreign.
 */
export function foreignDispatch(headers: MsgHdrs | undefined, data: Uint8Array): string | undefined {
  const foreign = foreignBy(headers, 'as_stored');
  if (foreign !== undefined) return foreign;
  return isServerAnswer(data) ? 'an answer of the server' : undefined;
}

const utf8 = new TextDecoder();
/** Where the form of an answer shows: the services' protocol names its type last, but an instance says little before. */
const ANSWER = /"type":"io\.nats\.|^\{"(?:stream|error)":/;

/** How most results begin, and no answer. */
const RESULT = Buffer.from('{"task_id"');

function isServerAnswer(data: Uint8Array): boolean {
  // "{": no agent's text with a result in it begins so, and no result that is one object is an answer.
  if (data[0] !== 0x7b || RESULT.every((byte, at) => data[at] === byte)) return false;
  if (!ANSWER.test(utf8.decode(data.subarray(0, MAX_PUB_ACK)))) return false;
  const json = jsonOf(data);
  if (typeof json !== 'object' || json === null) return false;
  const { type, stream, seq }: { type?: unknown; stream?: unknown; seq?: unknown } = json;
  if (typeof type === 'string') return type.startsWith('io.nats.');
  return typeof stream === 'string' && typeof seq === 'number' && !('task_id' in json);
}
