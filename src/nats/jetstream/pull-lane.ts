import { type Msg, type NatsConnection, nanos } from 'nats';
import { newInbox } from '../connection/connect-nats.js';
import { type ResilientSubscription, subscribeResiliently } from '../connection/resilient-subscription.js';

/**
 * One pull request to a consumer, repeated as soon as it has been answered in full.
 *
 * The client's `consume` limits requests by messages or by bytes, not both: a few hundred large messages then exceed what the
 * server buffers for a connection, which it closes, and the same messages are redelivered forever.
 */
interface PullLaneOptions {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly consumer: string;
  /** Messages per request in steady state. */
  readonly batch: number;
  /** Messages of the first request, also after a reconnect; then doubled each time (slow start). */
  readonly firstBatch: number;
  /** Returns the bytes of the next request: at least the server's largest message. */
  readonly maxBytes: () => number;
  /** Returns true if more may be requested. If false, the caller calls `pull` later. */
  readonly hasCapacity: () => boolean;
  readonly onMessage: (message: Msg) => void;
  /** The stream or consumer is gone. */
  readonly onLost: (why: string) => void;
  /** The request was refused for another reason; it is retried after a pause. */
  readonly onRefused: (why: string) => void;
}

const EXPIRES_MS = 10_000;
/** Interval of the server's heartbeats for a request. */
export const HEARTBEAT_MS = 2000;
const REFUSED_PAUSE_MS = 250;
/** Prefix of ack subjects. */
const ACK_SUBJECTS = '$JS.ACK.';
/** Status if the next message exceeds the remaining bytes of the request. */
const NO_ROOM = 'message size exceeds maxbytes';
const COMPLETED = 'batch completed';
/** Header with the number of messages that a request will not deliver. */
const NOT_SENT = 'Nats-Pending-Messages';

export class PullLane {
  readonly #options: PullLaneOptions;
  readonly #subject: string;
  /** Prefix of the reply subjects, one per request, so that answers to earlier requests are ignored. */
  readonly #inbox: string;
  readonly #subscription: ResilientSubscription;
  #batch: number;
  #request = 0;
  /** Messages that the pending request may still deliver; 0 without one. */
  #left = 0;
  /** Messages that it requested. */
  #asked = 0;
  #heardAt = 0;
  /** True if the next message exceeds the bytes of any request: it may be older than the server's limit. */
  #isOversized = false;
  #stopped = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(options: PullLaneOptions) {
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
    this.#asked = this.#left;
    this.#request += 1;
    try {
      connection.publish(this.#subject, JSON.stringify(request), { reply: this.#inbox + this.#request });
    } catch {
      // The connection is closed, and its owner stops this lane as well.
      this.#stop();
    }
  }

  /** Repeats a request that was lost with its server. */
  renew(): void {
    this.#left = 0;
    this.pull();
  }

  /** Forgets a request that was lost with its connection, and restarts slowly. */
  reset(): void {
    this.#left = 0;
    this.#batch = this.#options.firstBatch;
  }

  /** Returns true after two missed heartbeats. */
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
      this.#isOversized = why === NO_ROOM && notSent === this.#asked;
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
