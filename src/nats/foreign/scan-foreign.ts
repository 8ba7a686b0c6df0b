import type { JetStreamManager, NatsConnection, StreamInfo } from 'nats';
import { REJECTED_STREAM } from '../../contracts/names.js';
import type { RejectedStore } from '../../ports/rejected-store.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { batchesOf } from '../jetstream/direct-get.js';
import { foreignRejection } from '../stores/nats-rejected-store.js';
import { judgeOf, unreadVersion } from './judge-foreign.js';

/** A message that was stored as the answer to a request, or by anyone else who has no business there. */
export interface ForeignMessage {
  readonly stream: string;
  readonly sequence: number;
  readonly subject: string;
  readonly bytes: number;
  /** What it is, in words. */
  readonly what: string;
  /** Set for an event of ours in a format that this version does not read: it is not foreign. */
  readonly version?: number;
}

export interface Scanned {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly rejected: Pick<RejectedStore, 'foreign'>;
  readonly timeoutMs: number;
}

/** The streams that can hold foreign messages: those that were written to last come first. */
export async function scannedStreams(jsm: JetStreamManager): Promise<StreamInfo[]> {
  const found: StreamInfo[] = [];
  try {
    for await (const info of jsm.streams.list()) {
      const { name } = info.config;
      const isOurs = name === REJECTED_STREAM || judgeOf(name) !== undefined;
      if (isOurs && info.state.messages > 0) found.push(info);
    }
  } catch (error) {
    throw toThroughlineError(error, 'listing streams');
  }
  const writtenAt = ({ state }: StreamInfo) => String(state.last_ts);
  return found.sort((one, other) => (writtenAt(one) > writtenAt(other) ? -1 : 1));
}

/**
 * The foreign messages of a stream, oldest first, by reading it: batch by batch, never whole.
 *
 * @param newest how many of its newest sequences to look at; all by default
 * @throws ThroughlineError `permission_denied` where the user may not read the stream
 */
export async function* foreignIn(
  scanned: Scanned,
  { config: { name }, state }: StreamInfo,
  newest = Number.POSITIVE_INFINITY,
): AsyncGenerator<ForeignMessage> {
  const from = Math.max(1, state.first_seq, state.last_seq - newest + 1);
  const judge = judgeOf(name);
  if (judge === undefined) {
    yield* foreignRejections(scanned, from);
    return;
  }
  for await (const messages of batchesOf(scanned.connection, name, '>', { seq: from }, scanned.timeoutMs)) {
    for (const message of messages) {
      const { sequence, subject, data } = message;
      const found = { stream: name, sequence, subject, bytes: data.length };
      const what = judge(message);
      const version = what === undefined ? unreadVersion(name, message) : undefined;
      if (what !== undefined) yield { ...found, what };
      else if (version !== undefined) yield { ...found, what: `an event of version ${version}`, version };
    }
  }
}

/** A user who may look at rejected results may read them one by one, and not by direct get. */
async function* foreignRejections({ jsm, rejected }: Scanned, from: number): AsyncGenerator<ForeignMessage> {
  for (const sequence of await rejected.foreign(from)) {
    const message = await jsm.streams
      .getMessage(REJECTED_STREAM, { seq: sequence })
      .catch((error: unknown) => {
        throw toThroughlineError(error, `reading message ${sequence} of ${REJECTED_STREAM}`);
      });
    const what = foreignRejection(message);
    const { subject, data } = message;
    if (what !== undefined) yield { stream: REJECTED_STREAM, sequence, subject, bytes: data.length, what };
  }
}
