import { type Msg, type MsgHdrs, type NatsConnection, nanos } from 'nats';
import { codeOf } from '../../contracts/errors.js';
import type { DispatchConsumption, DispatchDelivery } from '../../engine/ports/dispatch-source.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { Backoff } from '../../engine/runtime/pacing.js';
import { withinDeadline } from '../../shared/deadlines.js';
import {
  maxPayload,
  newInbox,
  onConnectionState,
  type ResilientSubscription,
  subscribeResiliently,
} from '../connection/connect-nats.js';
import { foreignDispatch } from './direct-get.js';

/**
 * Consumes a pull consumer with two pull requests, so that one is answered while the other is in flight.
 *
 * A deleted consumer is created again with backoff; unacknowledged dispatches are then redelivered. Messages held are limited
 * by bytes as well as by number: no more bodies are fetched while the log rejects events.
 */
interface ConsumptionOptions {
  readonly connection: NatsConnection;
  readonly logger: Logger;
  readonly stream: string;
  readonly consumer: string;
  readonly batch: number;
  readonly hasCapacity: () => boolean;
  readonly handler: (delivery: NatsDelivery) => void;
  readonly ensure: () => Promise<void>;
  readonly exists: () => Promise<boolean>;
}

/** Messages per request: enough to hide the pause between requests. */
const BATCH = 500;
/** Size of subject and reply besides the largest message. */
const ENVELOPE_BYTES = 16 * 1024;
const MAX_BYTES_IN_HAND = 32 * 1024 * 1024;
const FIRST_PAUSE_MS = 100;
/** After a reconnect, messages are requested one request at a time: two answers may be what the connection was cut off for. */
const SLOW_START_MS = 5000;
/** Longest wait for messages in flight; a lost server sends none. */
const DRAIN_MS = 1000;

export class NatsConsumption implements DispatchConsumption {
  readonly #options: ConsumptionOptions;
  readonly #closing = new AbortController();
  #bytesInHand = 0;
  #isRecreating = false;
  #reconnectedAt = Number.NEGATIVE_INFINITY;
  #pullers: readonly Puller[] = [];
  readonly #watch: NodeJS.Timeout;
  readonly #unwatch: () => void;

  /** The consumer must exist. */
  constructor(options: ConsumptionOptions) {
    this.#options = options;
    this.#begin();
    this.#watch = setInterval(() => this.#checkHeartbeats(), HEARTBEAT_MS);
    this.#unwatch = onConnectionState(options.connection, (isConnected) => {
      // The server answers earlier requests as well, if the client listens for their answers again.
      if (!isConnected) return this.#closePullers();
      this.#reconnectedAt = performance.now();
      this.#begin();
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#watch);
    this.#unwatch();
    // Otherwise messages in flight would be redelivered only after the ack wait.
    const drained = Promise.all(this.#pullers.map((puller) => puller.drain())).catch(() => {});
    await withinDeadline(DRAIN_MS, drained);
    this.#closePullers();
  }

  #closePullers(): void {
    for (const puller of this.#pullers) puller.close();
  }

  /** Slow start with one message: a slow consumer would be disconnected again and again. */
  #begin(): void {
    this.#closePullers();
    const { connection, stream, consumer, hasCapacity } = this.#options;
    const batch = Math.min(BATCH, this.#options.batch);
    // Allows the largest message: a server that buffers less per connection could not deliver it. The limit may change with
    // a reconnect.
    const maxBytes = () => maxPayload(connection) + ENVELOPE_BYTES;
    const options = {
      connection,
      stream,
      consumer,
      batch,
      maxBytes,
      hasCapacity: () => this.#bytesInHand < MAX_BYTES_IN_HAND && hasCapacity(),
      onMessage: (message: Msg) => this.#deliver(message),
      onLost: (why: string) => void this.#recreate(why),
      onRefused: (why: string) =>
        this.#options.logger.warn(
          { code: 'unavailable', consumer, why },
          'a request for dispatches was refused and is made again',
        ),
    };
    // Different sizes keep them from running dry at the same time.
    this.#pullers = [1, 3].map((firstBatch) => new Puller({ ...options, firstBatch }));
    this.#pullers[0]?.pull();
  }

  #deliver(message: Msg): void {
    const by = DELIVERED.exec(message.reply ?? '');
    if (by === null) return;
    const delivery = new NatsDelivery(this.#options.connection, message, by, this.#settled);
    this.#bytesInHand += delivery.body.length;
    this.#options.handler(delivery);
  }

  readonly #settled = ({ body }: NatsDelivery): void => {
    this.#bytesInHand -= body.length;
    const isStarting = performance.now() - this.#reconnectedAt < SLOW_START_MS;
    for (const puller of this.#pullers.slice(0, isStarting ? 1 : undefined)) puller.pull();
  };

  /** Detects a consumer that vanished with its stream, or a request lost with its node: neither is reported. */
  #checkHeartbeats(): void {
    if (!this.#pullers.some((puller) => puller.isSilent())) return;
    this.#options.exists().then(
      (exists) => {
        if (!exists) void this.#recreate('no heartbeats');
        else for (const puller of this.#pullers) if (puller.isSilent()) puller.renew();
      },
      () => {},
    );
  }

  async #recreate(lost: string): Promise<void> {
    const { logger, consumer, ensure } = this.#options;
    const { signal } = this.#closing;
    if (this.#isRecreating || signal.aborted) return;
    this.#isRecreating = true;
    logger.warn({ code: 'unavailable', consumer, lost }, 'the consumer is gone and will be created again');
    this.#closePullers();
    for (const backoff = new Backoff(FIRST_PAUSE_MS); this.#isRecreating; ) {
      await backoff.pause(signal);
      if (signal.aborted) return;
      try {
        await ensure();
        if (!signal.aborted) this.#begin();
        this.#isRecreating = false;
      } catch (error) {
        logger.warn(
          { code: codeOf(error), consumer, err: error, againInMs: backoff.nextMs },
          'the consumer cannot be created yet',
        );
      }
    }
  }
}

/**
 * One pull request to a consumer, repeated as soon as it has been answered in full.
 *
 * The client's `consume` limits requests by messages or by bytes, not both: a few hundred large messages then exceed what the
 * server buffers for a connection, which it closes, and the same messages are redelivered forever.
 */
interface PullerOptions extends Pick<ConsumptionOptions, 'connection' | 'stream' | 'consumer' | 'batch'> {
  /** Messages of the first request; then doubled each time (slow start). */
  readonly firstBatch: number;
  /** Returns the bytes of the next request: at least the server's largest message. */
  readonly maxBytes: () => number;
  /** Returns true if more may be requested. If false, the caller calls `pull` later. */
  readonly hasCapacity: () => boolean;
  readonly onMessage: (message: Msg) => void;
  readonly onLost: (why: string) => void;
  /** The request was refused for another reason; it is retried after a pause. */
  readonly onRefused: (why: string) => void;
}

const EXPIRES_MS = 10_000;
export const HEARTBEAT_MS = 2000;
const REFUSED_PAUSE_MS = 250;
const ACK_SUBJECTS = '$JS.ACK.';
/** Status if the next message exceeds the remaining bytes of the request. */
const NO_ROOM = 'message size exceeds maxbytes';
const COMPLETED = 'batch completed';
/** Header with the number of messages that a request will not deliver. */
const NOT_SENT = 'Nats-Pending-Messages';

export class Puller {
  readonly #options: PullerOptions;
  readonly #subject: string;
  /** Prefix of the reply subjects, one per request, so that answers to earlier requests are ignored. */
  readonly #inbox: string;
  readonly #subscription: ResilientSubscription;
  #batch: number;
  #request = 0;
  /** Messages that the pending request may still deliver; 0 without one. */
  #left = 0;
  #requested = 0;
  #heardAt = 0;
  /** True if the next message exceeds the bytes of any request: it may be older than the server's limit. */
  #isOversized = false;
  #stopped = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(options: PullerOptions) {
    const { connection, stream, consumer, firstBatch } = options;
    this.#options = options;
    this.#batch = firstBatch;
    this.#subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    this.#inbox = `${newInbox(connection)}.`;
    this.#subscription = subscribeResiliently(connection, `${this.#inbox}*`, (message) =>
      this.#received(message),
    );
  }

  /** Sends a request, unless one is pending. */
  pull(): void {
    const { connection, batch, maxBytes, hasCapacity } = this.#options;
    if (this.#stopped || this.#left > 0 || this.#pause !== undefined || !hasCapacity()) return;
    this.#left = this.#isOversized ? 1 : Math.min(batch, this.#batch);
    this.#batch = Math.min(batch, this.#batch * 2);
    this.#heardAt = performance.now();
    const request = {
      batch: this.#left,
      ...(!this.#isOversized && { max_bytes: maxBytes() }),
      expires: nanos(EXPIRES_MS),
      idle_heartbeat: nanos(HEARTBEAT_MS),
    };
    this.#isOversized = false;
    this.#requested = this.#left;
    this.#request += 1;
    try {
      connection.publish(this.#subject, JSON.stringify(request), { reply: this.#inbox + this.#request });
    } catch {
      // The connection is closed, and its owner stops this puller as well.
      this.#stop();
    }
  }

  /** Repeats a request that was lost with its server. */
  renew(): void {
    this.#left = 0;
    this.pull();
  }

  isSilent(): boolean {
    return !this.#stopped && this.#left > 0 && performance.now() - this.#heardAt > 2 * HEARTBEAT_MS;
  }

  /** Stops, and resolves when messages sent before are delivered. */
  async drain(): Promise<void> {
    this.#stop();
    await this.#subscription.drain();
  }

  close(): void {
    this.#stop();
    this.#subscription.close();
  }

  #stop(): void {
    this.#stopped = true;
    clearTimeout(this.#pause);
  }

  #received(message: Msg): void {
    this.#heardAt = performance.now();
    // Not by its headers, which the publisher may have forged.
    if (message.reply?.startsWith(ACK_SUBJECTS) === true) {
      if (this.#left > 0) this.#left -= 1;
      this.#options.onMessage(message);
      if (this.#left === 0) this.pull();
    } else this.#answered(message);
  }

  #answered({ subject, headers }: Msg): void {
    const status = headers?.code ?? 0;
    const isOld = subject !== this.#inbox + this.#request;
    if (status < 400 || isOld || this.#stopped) return;
    const why = headers?.description.toLowerCase() ?? '';
    if (status === 503 || why === 'consumer deleted') {
      this.#stop();
      this.#options.onLost(status === 503 ? 'no consumer' : why);
    } else if (status === 408 || why === NO_ROOM || why === COMPLETED) {
      const notSent = Number(headers?.get(NOT_SENT) || this.#left);
      this.#isOversized = why === NO_ROOM && notSent === this.#requested;
      // With replicas, the end may be reported before the last messages.
      this.#left = Math.max(0, this.#left - notSent);
      if (this.#left === 0) this.pull();
    } else {
      this.#options.onRefused(`${status} ${why}`);
      this.#left = 0;
      this.#pause ??= setTimeout(() => {
        this.#pause = undefined;
        this.pull();
      }, REFUSED_PAUSE_MS);
    }
  }
}

const ACK = Buffer.from('+ACK');
const WORKING = Buffer.from('+WPI');
/** `$JS.ACK.[domain.account.]stream.consumer.deliveries.sequence.consumer sequence.nanoseconds.pending[.random]` */
const DELIVERED =
  /^\$JS\.ACK\.(?:[^.]+\.[^.]+\.){1,2}(\d{1,15})\.(\d{1,15})\.\d+\.(\d{1,13})\d{6}\.\d+(?:\.|$)/;

/** A dispatch as JetStream delivers it: no closures and no client's message, which each garbage collection would copy. */
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

  /**
   * @param by a match of `DELIVERED` with the reply subject
   * @param onSettled called once when it was acknowledged, nak'ed or terminated
   */
  constructor(
    connection: NatsConnection,
    message: Msg,
    by: RegExpExecArray,
    onSettled: (delivery: NatsDelivery) => void,
  ) {
    const [, delivery, sequence, milliseconds] = by;
    this.#connection = connection;
    this.#reply = by.input;
    this.headers = message.headers;
    this.#onSettled = onSettled;
    this.subject = message.subject;
    this.sequence = Number(sequence);
    this.delivery = Number(delivery);
    this.at = new Date(Number(milliseconds)).toISOString();
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

/** Returns the idempotency key under which a dispatch was first published, if any. */
export function publishedUnder(headers: MsgHdrs | undefined): string | undefined {
  return headers?.get('Nats-Msg-Id') || undefined;
}
