import { ErrorCode, headers, type Msg, type MsgHdrs, NatsError } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { API, refusal, takenByAnother } from '../connection/nats-errors.js';

export type PubOutcome =
  | {
      readonly outcome: 'stored';
      readonly sequence: number;
      readonly duplicate: boolean;
      /** Set if the sequence is an upper bound. */
      readonly isAtMost?: true;
    }
  /** The expected sequence was not the last one. */
  | { readonly outcome: 'wrong_sequence' }
  /** No stream has this subject. */
  | { readonly outcome: 'no_stream' };

interface PubAckJson {
  readonly stream?: string;
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/** Maps the error of a publish that the client did not send. */
export function notSent(subject: string, cause: unknown, limit: number | undefined): ThroughlineError {
  if (cause instanceof NatsError && cause.code === ErrorCode.MaxPayloadExceeded) {
    return new ThroughlineError(
      'too_large',
      `${subject}: more than the ${limit} bytes that the server takes`,
      {
        cause,
      },
    );
  }
  return new ThroughlineError('unavailable', `cannot publish to ${subject}: the connection is closed`, {
    cause,
    details: { closed: true },
  });
}

/** Parses the answer to a publish. */
export function outcomeOf(
  message: Msg,
  { subject, stream }: { readonly subject: string; readonly stream: string | undefined },
): PubOutcome | ThroughlineError {
  if (message.headers?.code === 503) return { outcome: 'no_stream' };
  const ack = parseAck(message);
  if (ack?.error?.err_code === API.wrongLastSequence) return { outcome: 'wrong_sequence' };
  if (ack?.error !== undefined) {
    const { err_code: code, description: text = 'no reason given' } = ack.error;
    return refusal(`${subject} was not stored`, { code, text });
  }
  if (ack?.seq === undefined)
    return new ThroughlineError('internal', `${subject}: the answer is not a PubAck`);
  if (stream !== undefined && ack.stream !== stream) return takenByAnother(subject, ack.stream ?? '', stream);
  return { outcome: 'stored', sequence: ack.seq, duplicate: ack.duplicate === true };
}

function parseAck(message: Msg): PubAckJson | undefined {
  try {
    return message.json<PubAckJson>();
  } catch {
    return undefined;
  }
}

export interface PublishHeaderOptions {
  readonly messageId?: string;
  readonly expectedLastOfSubjects?: { readonly sequence: number; readonly subjects: string };
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the headers of a publish; `undefined` if it needs none. */
export function publishHeaders(options: PublishHeaderOptions): MsgHdrs | undefined {
  const { messageId, expectedLastOfSubjects, headers: more } = options;
  if (messageId === undefined && expectedLastOfSubjects === undefined && more === undefined) return undefined;
  const head = headers();
  if (messageId !== undefined) head.set('Nats-Msg-Id', messageId);
  if (expectedLastOfSubjects !== undefined) {
    head.set('Nats-Expected-Last-Subject-Sequence', String(expectedLastOfSubjects.sequence));
    head.set('Nats-Expected-Last-Subject-Sequence-Subject', expectedLastOfSubjects.subjects);
  }
  for (const [name, value] of Object.entries(more ?? {})) head.set(name, value);
  return head;
}

/**
 * Answers to a batch (fast ingest of nats-server 2.14). All messages of a batch share one inbox and are identified by the end of
 * their reply subjects: `<batch>.<flow>.fail.<n>.<operation>.$FI`.
 */
type BatchAnswer =
  /** The server has started it: flow control, or a gap, which ends it. */
  | { readonly kind: 'begun' }
  /** Message `n`, counted from 1, is not stored. `ends`: the batch ends by itself. */
  | { readonly kind: 'refused'; readonly n: number; readonly ends: boolean }
  /** Ended: of its first `taken` messages all but refused ones are stored, the last one at `sequence`. */
  | { readonly kind: 'ended'; readonly taken: number; readonly sequence: number; readonly stream: string }
  /** No stream has the subject. */
  | { readonly kind: 'no_stream' };

/** The server also answers after this many messages: batches are shorter. */
const FLOW = 500;
const [START, APPEND, COMMIT, END] = [0, 1, 2, 3];

/** Returns the end of the reply subject of message `n` of a batch, counted from 1. */
export function batchReply(n: number, size: number): string {
  const operation = n === size ? COMMIT : n === 1 ? START : APPEND;
  return `.${FLOW}.fail.${n}.${operation}.$FI`;
}

/** Returns the same for an empty message instead of message `n`, which ends the batch before it. */
export function batchEnd(n: number): string {
  return `.${FLOW}.fail.${n}.${END}.$FI`;
}

/** Parses an answer; `undefined` for anything else. */
export function batchAnswer(message: Msg): BatchAnswer | undefined {
  if (message.headers?.code === 503) return { kind: 'no_stream' };
  const { type, error, seq: sequence, stream, count: taken } = jsonOf(message) ?? {};
  if (type === 'ack' || type === 'gap') return { kind: 'begun' };
  if (error !== undefined) {
    return { kind: 'refused', n: Number(message.subject.split('.').at(-3)), ends: type === 'err' };
  }
  if (sequence === undefined || taken === undefined || stream === undefined) return undefined;
  return { kind: 'ended', taken, sequence, stream };
}

interface Said {
  readonly type?: string;
  readonly error?: object;
  readonly seq?: number;
  readonly stream?: string;
  readonly count?: number;
}

function jsonOf(message: Msg): Said | undefined {
  try {
    return message.json<Said>();
  } catch {
    return undefined;
  }
}
