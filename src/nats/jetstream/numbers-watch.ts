import { codeOf } from '../../contracts/errors.js';
import type { Logger } from '../../engine/ports/clients.js';
import type { DispatchDelivery } from '../../engine/ports/dispatch-source.js';
import type { NatsDelivery } from './dispatch-delivery.js';
import type { SeenDispatch } from './dispatch-numbers.js';

/** Redelivery delay of a refused dispatch, in milliseconds. */
const AGAIN_MS = 5000;
const UNSEEN =
  'cannot check whether dispatch numbers are used again: give the user the permissions that "throughline admin permissions --role worker" prints';

/**
 * Holds dispatches back while the stream may reuse numbers that sessions have seen: after a reconnect, and for a dispatch that
 * is younger than one with a higher number, until a check succeeds.
 */
export class NumbersWatch {
  readonly #assert: () => Promise<SeenDispatch | undefined>;
  readonly #logger: Logger;
  /** Highest sequence and latest time of all dispatches delivered or seen. */
  #highest = { sequence: 0, at: '' };
  #isSound = false;
  #looking: Promise<boolean> | undefined;

  /** @param assert throws if numbers are reused; else returns the highest dispatch seen */
  constructor(assert: () => Promise<SeenDispatch | undefined>, logger: Logger) {
    this.#assert = assert;
    this.#logger = logger;
  }

  /** Checks the numbers, unless the user may not list streams. Throws ThroughlineError `config_invalid` on reuse. */
  async look(): Promise<void> {
    this.#isSound = false;
    try {
      const seen = await this.#assert();
      if (seen !== undefined) this.#note(seen);
    } catch (err) {
      if (codeOf(err) !== 'permission_denied') throw err;
      this.#logger.warn({ code: codeOf(err), err }, UNSEEN);
    }
    this.#isSound = true;
  }

  /** Makes the next dispatches wait for a check. */
  invalidate(): void {
    this.#isSound = false;
  }

  /** Passes a dispatch on, immediately or after a successful check; otherwise requests redelivery. */
  admit<Delivery extends DispatchDelivery & Pick<NatsDelivery, 'isVoid'>>(
    delivery: Delivery,
    handler: (delivery: Delivery) => void,
  ): void {
    if (delivery.isVoid) {
      delivery.ack();
      return;
    }
    const { sequence, at } = this.#highest;
    const isOdd = delivery.sequence <= sequence && delivery.at > at;
    if (this.#isSound && !isOdd) {
      this.#note(delivery);
      handler(delivery);
      return;
    }
    this.#looking ??= this.#looked().finally(() => {
      this.#looking = undefined;
    });
    void this.#looking.then((isSound) => {
      if (isSound) {
        this.#note(delivery);
        handler(delivery);
      } else delivery.nak(AGAIN_MS);
    });
  }

  async #looked(): Promise<boolean> {
    try {
      await this.look();
      return true;
    } catch (err) {
      this.#logger.error({ code: codeOf(err), err }, 'dispatches are not consumed');
      return false;
    }
  }

  #note({ sequence, at }: { readonly sequence: number; readonly at: string }): void {
    if (sequence > this.#highest.sequence || at > this.#highest.at) {
      this.#highest = {
        sequence: Math.max(sequence, this.#highest.sequence),
        at: at > this.#highest.at ? at : this.#highest.at,
      };
    }
  }
}
