import type { ErrorCode } from '../../contracts/error-codes.js';
import type { DispatchDelivery } from '../../ports/dispatch-source.js';
import { type BackoffLimits, backoffMs } from '../../shared/backoff.js';

/**
 * The one place where the outcome of a delivery turns into ack, nak or term.
 */
export type Disposition =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly reason: string };

export function dispose(delivery: DispatchDelivery, disposition: Disposition): void {
  switch (disposition.kind) {
    case 'done':
      delivery.ack();
      return;
    case 'retry':
      delivery.nak(disposition.delayMs);
      return;
    case 'rejected':
      delivery.term(disposition.reason);
      return;
  }
}

const RETRIES: BackoffLimits = { firstMs: 250, longestMs: 30_000 };

/**
 * Delay before the next delivery, in milliseconds: it doubles with each one, up to 30 s.
 *
 * @param random 0 to 1
 */
export function retryDelay(delivery: number, random: number): number {
  return backoffMs(RETRIES, delivery, random);
}
