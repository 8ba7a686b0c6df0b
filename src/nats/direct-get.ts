import type { Msg, NatsConnection } from 'nats';
import { ThroughlineError } from '../errors.js';
import { newInbox } from './connection.js';
import { onDenied } from './denials.js';

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
}

/** What to read: from a sequence on, or what was stored since a time, ISO 8601. */
export type StreamRange = ({ readonly from: number } | { readonly since: string }) & {
  readonly through?: number;
  readonly limit?: number;
};

/** Where a batch begins, in the server's own words. */
interface Begin {
  readonly seq?: number;
  readonly start_time?: string;
}

/** One batch, and whether more messages wait behind it. */
interface Batch {
  readonly messages: StreamMessage[];
  readonly pending: boolean;
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
  let begin: Begin = 'since' in range ? { start_time: range.since } : { seq: range.from };
  const { through = Number.MAX_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER } = range;
  while (found.length < limit && (begin.seq ?? 0) <= through) {
    const batch = Math.min(BATCH, limit - found.length);
    const { messages, pending } = await readBatch(connection, stream, filter, { ...begin, batch }, timeoutMs);
    for (const message of messages) {
      if (message.sequence > through) return found;
      found.push(message);
    }
    const last = messages.at(-1);
    if (!pending || last === undefined) return found;
    begin = { seq: last.sequence + 1 };
  }
  return found;
}

function readBatch(
  connection: NatsConnection,
  stream: string,
  filter: string,
  begin: Begin & { readonly batch: number },
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
          settle(() => resolve({ messages, pending: header(message, 'Nats-Num-Pending') > 0 }));
        // 404: no such message; 503: no such stream. Neither has anything to read.
        else if (status === 404 || status === 503) settle(() => resolve({ messages, pending: false }));
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
    const wanted = JSON.stringify({ ...begin, next_by_subj: filter });
    try {
      connection.publish(request, wanted, { reply: inbox });
    } catch (error) {
      settle(() => reject(error));
    }
  });
}

function streamMessage(message: Msg): StreamMessage {
  return {
    sequence: header(message, 'Nats-Sequence'),
    subject: message.headers?.last('Nats-Subject') ?? '',
    data: message.data,
  };
}

/** The server's own header comes last: whoever stored the message may have written one of the same name before it. */
function header(message: Msg, name: string): number {
  return Number(message.headers?.last(name) ?? 0);
}
