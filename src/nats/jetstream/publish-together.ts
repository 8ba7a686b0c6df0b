import type { BatchMessage, BatchOutcome } from './publish-batch.js';
import type { PubOutcome } from './publish-outcome.js';

/** Publishes messages one by one, or several as a batch. */
export interface BatchPublisher {
  publish(
    subject: string,
    data: Uint8Array | string,
    options: { readonly stream: string },
  ): Promise<PubOutcome>;
  publishBatch(stream: string, messages: readonly BatchMessage[]): Promise<BatchOutcome>;
}

interface Waiting extends BatchMessage {
  readonly resolve: (outcome: PubOutcome | Promise<PubOutcome>) => void;
  readonly reject: (error: unknown) => void;
}

/** Fewer are published one by one: a batch costs an answer for its begin and one for its end. */
const FEWEST = 3;
/** For so long nothing is sent as a batch to a stream that has refused one whole. */
const REFUSED_MS = 60_000;

/**
 * Publishes what is handed in within one turn of the event loop together, each stream's messages as a batch of the
 * server's fast ingest: it answers once for all of them, where one message costs it as much for the answer as for half
 * of the write. Nothing waits for more to come: it leaves at the end of the turn.
 *
 * What a batch did not store is published by itself, so that its own answer tells.
 */
export class PublishTogether {
  readonly #publisher: BatchPublisher;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #refusedUntil = new Map<string, number>();

  constructor(publisher: BatchPublisher) {
    this.#publisher = publisher;
  }

  publish(stream: string, subject: string, data: Uint8Array | string): Promise<PubOutcome> {
    // The first of a turn: what is begun behind it, also by promises that are settled already, is in the same batches.
    if (this.#waiting.size === 0) process.nextTick(() => this.#send());
    const together = this.#waiting.get(stream) ?? [];
    if (together.length === 0) this.#waiting.set(stream, together);
    return new Promise((resolve, reject) => together.push({ subject, data, resolve, reject }));
  }

  #send(): void {
    const groups = [...this.#waiting];
    this.#waiting.clear();
    for (const [stream, together] of groups) {
      const isBatch = together.length >= FEWEST && !this.#isRefused(stream);
      if (isBatch) void this.#sendBatch(stream, together);
      else for (const each of together) this.#sendAlone(stream, each);
    }
  }

  async #sendBatch(stream: string, together: readonly Waiting[]): Promise<void> {
    try {
      const sequences = await this.#publisher.publishBatch(stream, together);
      if (sequences.every((sequence) => sequence === 0))
        this.#refusedUntil.set(stream, performance.now() + REFUSED_MS);
      for (const [at, each] of together.entries()) {
        const sequence = sequences[at] ?? 0;
        if (sequence === 0) this.#sendAlone(stream, each);
        else each.resolve({ outcome: 'stored', sequence, duplicate: false, isAtMost: true });
      }
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }

  #sendAlone(stream: string, { subject, data, resolve }: Waiting): void {
    resolve(this.#publisher.publish(subject, data, { stream }));
  }

  #isRefused(stream: string): boolean {
    return performance.now() < (this.#refusedUntil.get(stream) ?? 0);
  }
}
