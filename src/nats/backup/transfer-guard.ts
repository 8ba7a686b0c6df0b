import type { NatsConnection } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { onDenied } from '../connection/connect-nats.js';
import { onConnectionState } from '../connection/connection-states.js';

/** What ends a transfer that is under way: it cannot be taken up again in the middle. */
export interface TransferGuard {
  /** Rejects when the connection is lost, the server denies one of the subjects, or nothing was heard for too long. */
  readonly failed: Promise<never>;
  /** Something was heard: the wait for the next begins, with another limit where one is given, in milliseconds. */
  heard(silenceMs?: number): void;
  /** Gives up for a reason. */
  fail(error: unknown): void;
  release(): void;
}

/**
 * Watches over a transfer.
 *
 * @param doing what is done, for the message of an error
 * @param silenceMs longest time in which nothing is heard
 * @param isOurs whether a subject that is denied belongs to the transfer
 */
export function transferGuard(
  connection: NatsConnection,
  doing: string,
  silenceMs: number,
  isOurs: (subject: string) => boolean,
): TransferGuard {
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // It may fail after the transfer has ended otherwise.
  failed.catch(() => {});
  const gone = (why: string) => fail(new ThroughlineError('unavailable', `${doing}: ${why}`));
  const wait = (ms: number) => setTimeout(() => gone(`the server said nothing for ${ms} ms`), ms);
  let silence = wait(silenceMs);
  const releases = [
    onDenied(connection, ({ subject, fault }) => {
      if (isOurs(subject)) fail(fault);
    }),
    onConnectionState(connection, (connected) => {
      if (!connected) gone('the connection to the server was lost');
    }),
  ];
  return {
    failed,
    heard(ms = silenceMs) {
      clearTimeout(silence);
      silence = wait(ms);
    },
    fail,
    release() {
      clearTimeout(silence);
      for (const release of releases) release();
    },
  };
}
