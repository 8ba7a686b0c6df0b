import type { Msg } from 'nats';

/**
 * What the server answers to a batch of its fast ingest (nats-server 2.14). All messages of a batch have one inbox, and
 * say in the end of their reply subjects which they are: `<batch>.<flow>.fail.<n>.<operation>.$FI`.
 */
export type BatchAnswer =
  /** The server has begun it: flow control, or a gap, behind which the end follows. */
  | { readonly kind: 'begun' }
  /** Message `n`, counted from 1, is not stored. `ends`: the end of the batch follows by itself. */
  | { readonly kind: 'refused'; readonly n: number; readonly ends: boolean }
  /** It has ended: of its first `taken` messages all but refused ones are stored, the last one under this sequence. */
  | { readonly kind: 'ended'; readonly taken: number; readonly sequence: number; readonly stream: string }
  /** No stream takes the subject. */
  | { readonly kind: 'no_stream' };

/** The server would answer after so many messages as well: a batch is shorter. */
const FLOW = 500;
const [START, APPEND, COMMIT, END] = [0, 1, 2, 3];

/** The end of the reply subject of message `n` of a batch, counted from 1. */
export function batchReply(n: number, size: number): string {
  const operation = n === size ? COMMIT : n === 1 ? START : APPEND;
  return `.${FLOW}.fail.${n}.${operation}.$FI`;
}

/** The same for an empty message in the place of message `n`, which ends the batch before it. */
export function batchEnd(n: number): string {
  return `.${FLOW}.fail.${n}.${END}.$FI`;
}

/** What an answer says; `undefined` for anything that is none. */
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
