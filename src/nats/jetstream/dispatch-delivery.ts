import type { Msg, MsgHdrs } from 'nats';
import { HEADERS } from '../../contracts/names.js';
import type { TraceContext } from '../../contracts/trace-context.js';
import type { DispatchDelivery } from '../../ports/dispatch-source.js';
import { traceOf } from '../trace-of.js';

const ACK = Buffer.from('+ACK');
const WORKING = Buffer.from('+WPI');
/** `$JS.ACK.[domain.account.]stream.consumer.deliveries.sequence.consumer sequence.nanoseconds.pending[.random]` */
const DELIVERED =
  /^\$JS\.ACK\.(?:[^.]+\.[^.]+\.){1,2}(\d{1,15})\.(\d{1,15})\.\d+\.(\d{1,13})\d{6}\.\d+(?:\.|$)/;

/** A dispatch as JetStream delivers it. A class, not an object of closures: hundreds are alive at a time. */
export class NatsDelivery implements DispatchDelivery {
  readonly #message: Msg;
  readonly #onSettled: (delivery: NatsDelivery) => void;
  readonly subject: string;
  readonly sequence: number;
  readonly at: string;
  readonly messageId?: string;
  readonly delivery: number;
  /** Taken once: the message makes it again each time. */
  readonly body: Uint8Array;
  #settled = false;

  /**
   * The dispatch that a message is, or `undefined` for a message that no consumer delivered.
   *
   * @param onSettled told once, when it has been acknowledged, put off or terminated
   */
  static of(message: Msg, onSettled: (delivery: NatsDelivery) => void): NatsDelivery | undefined {
    const [, delivery, sequence, milliseconds] = DELIVERED.exec(message.reply ?? '') ?? [];
    if (milliseconds === undefined) return undefined;
    const at = new Date(Number(milliseconds)).toISOString();
    return new NatsDelivery(message, onSettled, Number(sequence), Number(delivery), at);
  }

  private constructor(
    message: Msg,
    onSettled: (delivery: NatsDelivery) => void,
    sequence: number,
    delivery: number,
    at: string,
  ) {
    this.#message = message;
    this.#onSettled = onSettled;
    this.subject = message.subject;
    this.sequence = sequence;
    this.delivery = delivery;
    this.at = at;
    this.body = message.data;
    const messageId = publishedUnder(message.headers);
    if (messageId !== undefined) this.messageId = messageId;
  }

  /** Read only when it is asked for: most processes record no spans. */
  get trace(): TraceContext | undefined {
    return traceOf(this.#message.headers);
  }

  ack(): void {
    this.#settle(ACK);
  }

  working(): void {
    if (!this.#settled) this.#message.respond(WORKING);
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

/** The id that a dispatch was first published under, if any. */
export function publishedUnder(headers: MsgHdrs | undefined): string | undefined {
  return headers?.get(HEADERS.messageId) || headers?.get('Nats-Msg-Id') || undefined;
}
