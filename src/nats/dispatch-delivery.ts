import type { Msg } from 'nats';
import type { DispatchDelivery } from '../ports/dispatch-source.js';

const ACK = Buffer.from('+ACK');

/** A dispatch as JetStream delivers it. A class, not an object of closures: thousands are alive at a time. */
export class NatsDelivery implements DispatchDelivery {
  readonly #message: Msg;
  readonly #onSettled: (delivery: NatsDelivery) => void;
  readonly subject: string;
  readonly sequence: number;
  readonly at: string;
  readonly delivery: number;
  #settled = false;

  /** @param onSettled told once, when it has been acknowledged, put off or terminated */
  constructor(message: Msg, onSettled: (delivery: NatsDelivery) => void) {
    this.#message = message;
    this.#onSettled = onSettled;
    this.subject = message.subject;
    // $JS.ACK.[domain.account.]stream.consumer.deliveries.sequence.consumer sequence.nanoseconds.pending[.random]
    const tokens = (message.reply ?? '').split('.');
    const from = tokens.length > 9 ? 6 : 4;
    this.delivery = Number(tokens[from]);
    this.sequence = Number(tokens[from + 1]);
    this.at = new Date(Number((tokens[from + 3] ?? '').slice(0, -6))).toISOString();
  }

  get body(): Uint8Array {
    return this.#message.data;
  }

  ack(): void {
    this.#settle(ACK);
  }

  nak(delayMs: number): void {
    this.#settle(Buffer.from(`-NAK {"delay":${Math.round(delayMs * 1e6)}}`));
  }

  term(reason: string): void {
    this.#settle(Buffer.from(`+TERM ${reason}`));
  }

  #settle(answer: Uint8Array): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#onSettled(this);
    this.#message.respond(answer);
  }
}
