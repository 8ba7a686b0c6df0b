import type {
  DispatchConsumption,
  DispatchDelivery,
  DispatchSource,
} from '../../src/engine/ports/dispatch-source.js';
import type { Scheduler } from './manual-scheduler.js';
import { DEFAULT_DEDUPE_LAST, RecentIds } from './recent-ids.js';

/**
 * A dispatch source in memory. Ack and term settle a dispatch; a nak, or the end of the ack wait, makes it ready again. Each
 * delivery is a separate task of the scheduler, so that a simulation decides what happens in between.
 */
export interface MemoryDispatchSourceOptions {
  readonly scheduler: Scheduler;
  /** Milliseconds until an unacknowledged dispatch is redelivered. Default: 30,000. */
  readonly ackWaitMs?: number;
  /** Maximum unacknowledged dispatches per consumer. Default: 1000. */
  readonly maxInHand?: number;
  /** Dispatches whose message ids are remembered; 0 disables deduplication. Default: 100,000. */
  readonly dedupeLast?: number;
}

interface Dispatch extends Pick<DispatchDelivery, 'subject' | 'body' | 'sequence' | 'at' | 'messageId'> {
  deliveries: number;
  settled: boolean;
}

interface Consumer {
  readonly handler: (delivery: DispatchDelivery) => void;
  readonly hasCapacity: () => boolean;
  inHand: number;
}

export class MemoryDispatchSource implements DispatchSource {
  readonly #scheduler: Scheduler;
  readonly #ackWaitMs: number;
  readonly #maxInHand: number;
  readonly #ids: RecentIds;
  readonly #dispatches: Dispatch[] = [];
  readonly #ready: Dispatch[] = [];
  /** Longest waiting first. */
  #consumers: Consumer[] = [];
  #awake = false;

  constructor(options: MemoryDispatchSourceOptions) {
    const { scheduler, ackWaitMs = 30_000, maxInHand = 1000, dedupeLast = DEFAULT_DEDUPE_LAST } = options;
    this.#scheduler = scheduler;
    this.#ackWaitMs = ackWaitMs;
    this.#maxInHand = maxInHand;
    this.#ids = new RecentIds(dedupeLast);
  }

  async publish(
    subject: string,
    body: Uint8Array,
    messageId?: string,
  ): Promise<{ readonly sequence: number }> {
    const earlier = messageId === undefined ? undefined : this.#ids.get(messageId);
    if (earlier !== undefined) return { sequence: earlier };
    const sequence = this.#dispatches.length + 1;
    const at = new Date(this.#scheduler.now()).toISOString();
    const dispatch = {
      subject,
      body: body.slice(),
      sequence,
      at,
      ...(messageId !== undefined && { messageId }),
      deliveries: 0,
      settled: false,
    };
    this.#dispatches.push(dispatch);
    if (messageId !== undefined) this.#ids.add(messageId, sequence);
    this.#makeReady(dispatch);
    return { sequence };
  }

  async newest(): Promise<number> {
    return this.#dispatches.length;
  }

  async consume(
    handler: (delivery: DispatchDelivery) => void,
    hasCapacity: () => boolean = () => true,
  ): Promise<DispatchConsumption> {
    const consumer = { handler, hasCapacity, inHand: 0 };
    this.#consumers.push(consumer);
    this.#wake();
    return {
      close: async () => {
        this.#consumers = this.#consumers.filter((other) => other !== consumer);
      },
    };
  }

  /** Returns the dispatch published with a sequence, settled or not. */
  stored(sequence: number): Pick<DispatchDelivery, 'subject' | 'body' | 'at' | 'messageId'> | undefined {
    const dispatch = this.#dispatches[sequence - 1];
    if (dispatch === undefined) return undefined;
    const { deliveries: _, settled: __, sequence: ___, ...published } = dispatch;
    return { ...published, body: dispatch.body.slice() };
  }

  #makeReady(dispatch: Dispatch): void {
    if (dispatch.settled) return;
    this.#ready.push(dispatch);
    this.#wake();
  }

  #wake(): void {
    if (this.#awake) return;
    this.#awake = true;
    this.#scheduler.after(0, () => {
      this.#awake = false;
      this.#deliverNext();
    });
  }

  #deliverNext(): void {
    const consumer = this.#consumers.find((each) => each.inHand < this.#maxInHand && each.hasCapacity());
    if (consumer === undefined) return;
    const dispatch = this.#ready.shift();
    if (dispatch === undefined) return;
    this.#consumers = [...this.#consumers.filter((other) => other !== consumer), consumer];
    this.#wake();
    // A late ack still counts while the dispatch is ready again.
    if (!dispatch.settled) consumer.handler(this.#delivery(dispatch, consumer));
  }

  #delivery(dispatch: Dispatch, consumer: Consumer): DispatchDelivery {
    dispatch.deliveries += 1;
    consumer.inHand += 1;
    let inHand = true;
    let answered = false;
    const letGo = (thenReadyIn?: number) => {
      if (!inHand) return;
      inHand = false;
      cancel();
      consumer.inHand -= 1;
      this.#wake();
      if (thenReadyIn !== undefined) this.#scheduler.after(thenReadyIn, () => this.#makeReady(dispatch));
    };
    const comeAgain = () => this.#scheduler.after(this.#ackWaitMs, () => letGo(0));
    let cancel = comeAgain();
    // Only the first answer to a delivery counts.
    const answer = (become: () => void) => {
      if (!answered) become();
      answered = true;
      // Also after the ack wait: the consumer may have capacity again.
      this.#wake();
    };
    const settle = () => {
      dispatch.settled = true;
      letGo();
    };
    const { body, deliveries, settled: _, ...published } = dispatch;
    return {
      ...published,
      body: body.slice(),
      delivery: deliveries,
      ack: () => answer(settle),
      working: () => {
        if (!inHand) return;
        cancel();
        cancel = comeAgain();
      },
      nak: (delayMs) => answer(() => letGo(delayMs)),
      term: () => answer(settle),
    };
  }
}
