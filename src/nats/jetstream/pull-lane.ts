import { type Msg, type NatsConnection, nanos } from 'nats';
import { newInbox } from '../connection/connect-nats.js';
import { type KeptSubscription, keepSubscribed } from '../connection/kept-subscription.js';

/**
 * One standing request to a pull consumer, made again as soon as it has been answered in full.
 *
 * The client's own `consume` bounds its requests in messages or in bytes, never in both: a few hundred large messages
 * then exceed what the server keeps for a connection, which it cuts off, and the same ones come again without an end.
 */
interface PullLaneOptions {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly consumer: string;
  /** Messages that one request asks for, once it runs well. */
  readonly batch: number;
  /** Messages that the first request asks for, and the first one after a lost connection; then twice as many each time. */
  readonly firstBatch: number;
  /** Bytes that the next request asks for: no less than the largest message that the server takes now. */
  readonly maxBytes: () => number;
  /** Whether more may be asked for now. Where not, the caller calls `pull` later. */
  readonly hasRoom: () => boolean;
  readonly onMessage: (message: Msg) => void;
  /** Stream or consumer are gone: nothing more comes. */
  readonly onLost: (why: string) => void;
  /** The request was turned down for a reason of its own; it is made again after a pause. */
  readonly onRefused: (why: string) => void;
}

/** How long one request stands. */
const EXPIRES_MS = 10_000;
/** How often the server says that it still knows the request. */
export const HEARTBEAT_MS = 2000;
const REFUSED_PAUSE_MS = 250;
/** Where the answer to a delivery goes. */
const ACK_SUBJECTS = '$JS.ACK.';
/** How a request ends when the next message does not fit into what is left of its bytes. */
const NO_ROOM = 'message size exceeds maxbytes';
const COMPLETED = 'batch completed';
/** How much of its messages a request will not bring. */
const NOT_SENT = 'Nats-Pending-Messages';

export class PullLane {
  readonly #options: PullLaneOptions;
  readonly #subject: string;
  /** Each request has a reply subject of its own below this one: what is said of an earlier one is ignored. */
  readonly #inbox: string;
  readonly #subscription: KeptSubscription;
  #batch: number;
  #request = 0;
  /** Messages that the standing request may still bring; 0 while there is none. */
  #left = 0;
  /** Messages that it asked for. */
  #asked = 0;
  #heardAt = 0;
  /** Whether the next message has more bytes than any request asks for, as those may that are older than the limit. */
  #isOversized = false;
  #stopped = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(options: PullLaneOptions) {
    const { connection, stream, consumer, firstBatch } = options;
    this.#options = options;
    this.#batch = firstBatch;
    this.#subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    this.#inbox = `${newInbox(connection)}.`;
    this.#subscription = keepSubscribed(connection, `${this.#inbox}*`, (message) => this.#received(message));
  }

  /** Asks for messages, unless a request stands. */
  pull(): void {
    const { connection, batch, maxBytes, hasRoom } = this.#options;
    if (this.#stopped || this.#left > 0 || this.#pause !== undefined || !hasRoom()) return;
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
      // The connection is closed: nothing more arrives, and the one that closed it stops us as well.
      this.#stop();
    }
  }

  /** Asks again: the open request was lost with the server that had it. */
  renew(): void {
    this.#left = 0;
    this.pull();
  }

  /** Forgets the standing request, which went with its connection, and asks for little next. */
  reset(): void {
    this.#left = 0;
    this.#batch = this.#options.firstBatch;
  }

  /** Whether the server has missed two heartbeats. */
  isSilent(): boolean {
    return !this.#stopped && this.#left > 0 && performance.now() - this.#heardAt > 2 * HEARTBEAT_MS;
  }

  /** Asks for nothing more, and resolves when what the server had sent before has been handed on. */
  async drain(): Promise<void> {
    this.#stop();
    await this.#subscription.drain();
  }

  /** Stops at once. */
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
    // Not by its headers: the publisher may have given it some that look like the server's.
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
      // Where replicas must agree on each delivery first, the end is told before the last ones come.
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
