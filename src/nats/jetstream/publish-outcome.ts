import { ErrorCode, headers, type Msg, type MsgHdrs, NatsError } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { API, refusal, takenByAnother } from '../connection/nats-errors.js';

export type PubOutcome =
  | {
      readonly outcome: 'stored';
      readonly sequence: number;
      readonly duplicate: boolean;
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
