import { checkOptions, ThroughlineError } from '../contracts/errors.js';
import { isRole, ROLES, type Role } from '../contracts/kinds.js';
import { dispatchMessageId, dispatchSubject, token } from '../contracts/names.js';
import type { DispatchResult } from '../contracts/result-requests.js';
import type { ClientTransport } from '../engine/ports/client-transport.js';
import { LATE, linkedSignal, withinDeadline } from '../shared/deadlines.js';
import { keepTrying, unlessStopped } from './keep-trying.js';

/** The position of a published result: pass `sequence` as `after` to see it in the next prompt. */
export interface Published {
  /** Sequence in the `DISPATCH` stream. */
  readonly sequence: number;
  /**
   * Nothing was stored: within the last two minutes the server had stored a result under the given `messageId`, at
   * `sequence`. Left out if an earlier attempt of the same call may have stored it.
   */
  readonly duplicate?: true;
}

/** Includes what became of the result if the publisher waits for it. */
export type PublishedBy<Options extends PublishOptions> = Options extends { readonly wait: true }
  ? Published & { readonly result: DispatchResult }
  : Published;

/** The way a result is published, and for how long. */
export interface PublishOptions {
  /**
   * Idempotency key of the result: the same id counts once in its session, however late. After an `unavailable` error,
   * pass its `details.messageId`. Ids are shared by all sessions, so your own must be as hard to guess as the default,
   * `<session>:<random UUID>`: others could use up an id that they can guess.
   */
  readonly messageId?: string;
  /**
   * Waits until the session has processed the result, and returns its facts or the reason for its rejection. On a
   * timeout, the error has the sequence in `details.dispatch`: the result is stored, and `tools.dispatchShow` asks
   * again. Default: false.
   */
  readonly wait?: boolean;
  /** Limit of retrying until there is a PubAck, in milliseconds. Default 30 000. */
  readonly timeoutMs?: number;
  /** Stops retrying; the result may have been stored nevertheless. */
  readonly signal?: AbortSignal;
  /** Called once, if the first attempt had no PubAck and is retried. */
  readonly onWaiting?: ((failure: ThroughlineError) => void) | undefined;
}

/** Valid in a header. */
const MESSAGE_ID = /^[!-~]{1,256}$/;

const MAX_SHOWN = 40;

export const PUBLISH_TIMEOUT_MS = 30_000;
/** Limit of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Publishes under one message id until there is a PubAck, a timeout, or an abort of `closing` or the caller's signal.
 *
 * @throws ThroughlineError as `publishText` says
 */
export async function publishPersistently(
  transport: Pick<ClientTransport, 'publish'>,
  closing: AbortSignal,
  session: string,
  role: Role,
  text: string | Uint8Array,
  options: PublishOptions = {},
): Promise<Published> {
  const of = token(session, 'session');
  const subject = dispatchSubject(of, role);
  const { messageId = dispatchMessageId(of, crypto.randomUUID()), signal } = options;
  const { timeoutMs = PUBLISH_TIMEOUT_MS, onWaiting } = options;
  checkOptions(options, OPTIONS, 'publishing');
  if (!MESSAGE_ID.test(messageId)) {
    const is =
      messageId.length <= MAX_SHOWN ? JSON.stringify(messageId) : `text of ${messageId.length} characters`;
    throw invalid('messageId', is, '1 to 256 printable ASCII characters without spaces');
  }
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS))
    throw invalid('timeoutMs', `${timeoutMs}`, `1 to ${MAX_TIMEOUT_MS}`);
  checkRole(role);
  let attempts = 0;
  const attempt = async (patienceMs: number): Promise<Published> => {
    attempts += 1;
    const isFirst = attempts === 1;
    const publishing = unlessStopped(signal, () => transport.publish(subject, text, messageId));
    const published = await withinDeadline(patienceMs, publishing);
    if (published !== LATE) {
      const { sequence, duplicate } = published;
      const isKnown = duplicate === true && isFirst && options.messageId !== undefined;
      return { sequence, ...(isKnown && { duplicate: true }) };
    }
    throw new ThroughlineError('unavailable', `${subject}: no PubAck within ${Math.ceil(patienceMs)} ms`);
  };
  const stop = signal && linkedSignal([closing, signal]);
  try {
    return await keepTrying(attempt, { timeoutMs, signal: stop?.signal ?? closing, onWaiting });
  } catch (error) {
    throw withMessageId(error, messageId);
  } finally {
    stop?.release();
  }
}

const OPTIONS: Readonly<Record<keyof PublishOptions, true>> = {
  messageId: true,
  wait: true,
  timeoutMs: true,
  signal: true,
  onWaiting: true,
};

/** @throws ThroughlineError `schema_invalid` */
export function checkRole(role: unknown): void {
  if (!isRole(role)) throw invalid('role', JSON.stringify(role), ROLES.join(', '));
}

function invalid(field: string, is: string, use: string): ThroughlineError {
  return new ThroughlineError('schema_invalid', `${field} is ${is}: use ${use}`, {
    details: { fields: [field] },
  });
}

/** The result may be stored: only the same id makes it safe to publish again. */
function withMessageId(error: unknown, messageId: string): unknown {
  if (!(error instanceof ThroughlineError) || error.code !== 'unavailable') return error;
  const again = `it may be stored all the same: publish it again with the messageId ${messageId}, and it counts once`;
  return new ThroughlineError(error.code, `${error.message}; ${again}`, {
    cause: error,
    details: { ...error.details, messageId },
  });
}
