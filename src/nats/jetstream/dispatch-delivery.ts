import type { Msg, MsgHdrs, NatsConnection } from 'nats';
import type { DispatchDelivery } from '../../engine/ports/dispatch-source.js';
import { foreignDispatch } from './stored-replies.js';

export interface DeliveredBy {
  readonly connection: NatsConnection;
  /** Called once when a delivery was acknowledged, nak'ed or terminated. */
  readonly onSettled: (delivery: NatsDelivery) => void;
}

const ACK = Buffer.from('+ACK');
const WORKING = Buffer.from('+WPI');
/** `$JS.ACK.[domain.account.]stream.consumer.deliveries.sequence.consumer sequence.nanoseconds.pending[.random]` */
const DELIVERED =
  /^\$JS\.ACK\.(?:[^.]+\.[^.]+\.){1,2}(\d{1,15})\.(\d{1,15})\.\d+\.(\d{1,13})\d{6}\.\d+(?:\.|$)/;

/**
 * A dispatch as JetStream delivers it. A class without closures and without the client's message: hundreds are alive at a time,
 * and what they retain is copied by each garbage collection.
 */
export class NatsDelivery implements DispatchDelivery {
  readonly #connection: NatsConnection;
  readonly #reply: string;
  readonly #onSettled: (delivery: NatsDelivery) => void;
  readonly headers: MsgHdrs | undefined;
  readonly subject: string;
  readonly sequence: number;
  readonly at: string;
  readonly messageId?: string;
  readonly delivery: number;
  readonly body: Uint8Array;
  #settled = false;

  /** Returns the dispatch in a message, or `undefined` if no consumer delivered it. */
  static of(message: Msg, { connection, onSettled }: DeliveredBy): NatsDelivery | undefined {
    const { reply = '' } = message;
    const [, delivery, sequence, milliseconds] = DELIVERED.exec(reply) ?? [];
    if (milliseconds === undefined) return undefined;
    const metadata = {
      reply,
      sequence: Number(sequence),
      delivery: Number(delivery),
      at: new Date(Number(milliseconds)).toISOString(),
    };
    return new NatsDelivery(message, metadata, connection, onSettled);
  }

  private constructor(
    message: Msg,
    { reply, sequence, delivery, at }: AckMetadata,
    connection: NatsConnection,
    onSettled: (delivery: NatsDelivery) => void,
  ) {
    this.#connection = connection;
    this.#reply = reply;
    this.headers = message.headers;
    this.#onSettled = onSettled;
    this.subject = message.subject;
    this.sequence = sequence;
    this.delivery = delivery;
    this.at = at;
    this.body = message.data;
    const messageId = publishedUnder(this.headers);
    if (messageId !== undefined) this.messageId = messageId;
  }

  get foreign(): string | undefined {
    return foreignDispatch(this.headers, this.body);
  }

  get isBare(): boolean {
    return this.body.length === 0 && this.headers === undefined;
  }

  ack(): void {
    this.#settle(ACK);
  }

  working(): void {
    if (!this.#settled) this.#connection.publish(this.#reply, WORKING);
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
    this.#connection.publish(this.#reply, answer);
  }
}

interface AckMetadata extends Pick<DispatchDelivery, 'sequence' | 'delivery' | 'at'> {
  readonly reply: string;
}

/** Returns the idempotency key under which a dispatch was first published, if any. */
export function publishedUnder(headers: MsgHdrs | undefined): string | undefined {
  return headers?.get('Nats-Msg-Id') || undefined;
}
