import { ErrorCode, type Msg, NatsError } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { API, refusal, takenByAnother } from '../connection/nats-errors.js';
import { plainSequence } from './plain-pub-ack.js';

/** What has become of a publish. */
export type PubOutcome =
  | {
      readonly outcome: 'stored';
      readonly sequence: number;
      readonly duplicate: boolean;
      /** Set where the sequence may be lower. */
      readonly isAtMost?: true;
    }
  /** What was expected was not the last sequence. */
  | { readonly outcome: 'wrong_sequence' }
  /** No stream takes this subject. */
  | { readonly outcome: 'no_stream' };

interface PubAckJson {
  readonly stream?: string;
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/** The fault of a publish that the client did not send. */
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

/** What the answer to a publish says. */
export function outcomeOf(
  message: Msg,
  { subject, stream }: { readonly subject: string; readonly stream: string | undefined },
): PubOutcome | ThroughlineError {
  const plain = stream === undefined ? undefined : plainSequence(message.data, stream);
  if (plain !== undefined) return { outcome: 'stored', sequence: plain, duplicate: false };
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
