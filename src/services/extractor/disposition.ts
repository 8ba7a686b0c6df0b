import type { DispatchDelivery } from '../../ports/dispatch-source.js';

/**
 * What becomes of a delivery: the one place where an outcome turns into ack, nak or term.
 */
export type Disposition =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'rejected'; readonly reason: string };

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

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;

/**
 * Delay before the next delivery: doubles with each one, up to 30 s, and varies by half so that deliveries that
 * failed together do not come back together.
 *
 * @param random 0 to 1
 */
export function retryDelay(delivery: number, random: number): number {
  const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(delivery - 1, 20));
  return Math.round(full / 2 + (full / 2) * random);
}
