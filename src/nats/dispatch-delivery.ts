import type { JsMsg } from 'nats';
import type { DispatchDelivery } from '../ports/dispatch-source.js';

/** A dispatch as JetStream delivers it. A class, not an object of closures: thousands are alive at a time. */
export class NatsDelivery implements DispatchDelivery {
  readonly #message: JsMsg;
  readonly subject: string;
  readonly sequence: number;
  readonly at: string;
  readonly delivery: number;

  constructor(message: JsMsg) {
    const { info } = message;
    this.#message = message;
    this.subject = message.subject;
    this.sequence = info.streamSequence;
    this.at = new Date(Math.floor(info.timestampNanos / 1_000_000)).toISOString();
    this.delivery = info.deliveryCount;
  }

  get body(): Uint8Array {
    return this.#message.data;
  }

  ack(): void {
    this.#message.ack();
  }

  nak(delayMs: number): void {
    this.#message.nak(delayMs);
  }

  term(reason: string): void {
    this.#message.term(reason);
  }
}
