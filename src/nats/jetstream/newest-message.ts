import type { JetStreamManager, StoredMsg } from 'nats';
import { API, apiCode } from '../connection/nats-errors.js';
import type { StreamMessage } from './direct-get.js';
import { foreignBy } from './stored-replies.js';

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
