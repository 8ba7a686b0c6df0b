import { codeOf } from '../../contracts/errors.js';
import type { DispatchDelivery } from '../../engine/ports/dispatch-source.js';
import type { Logger } from '../../engine/ports/logger.js';
import type { NatsDelivery } from './dispatch-delivery.js';
import type { SeenDispatch } from './dispatch-numbers.js';

/** A refused dispatch comes again after this time, and is checked again then. */
const AGAIN_MS = 5000;
const UNSEEN =
  'cannot check whether dispatch numbers are used again: give the user the permissions that "throughline admin permissions --role worker" prints';

/**
 * Holds dispatches back while the stream may give numbers that sessions have seen: after a reconnect, and when a dispatch
 * is younger than one with a higher number, until it is known that it does not.
 */
export class NumbersWatch {
  readonly #assert: () => Promise<SeenDispatch | undefined>;
  readonly #logger: Logger;
  /** The highest dispatch that was delivered or seen, and the latest time of all. */
  #highest = { sequence: 0, at: '' };
  #isSound = false;
  #looking: Promise<boolean> | undefined;

  /** @param assert throws when numbers are used again, and otherwise gives the highest dispatch seen */
  constructor(assert: () => Promise<SeenDispatch | undefined>, logger: Logger) {
    this.#assert = assert;
    this.#logger = logger;
  }

  /**
   * Skipped where the user may not list streams.
   *
   * @throws ThroughlineError `config_invalid` when numbers are used again
   */
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

  /** Has the next dispatches wait until it is known again. */
  doubt(): void {
    this.#isSound = false;
  }

  /** Hands a dispatch on at once, or when its number is known to be its own; otherwise it comes again later. */
  pass<Delivery extends DispatchDelivery & Pick<NatsDelivery, 'isVoid'>>(
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
      this.#logger.error({ code: codeOf(err), err }, 'no dispatches are taken');
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
