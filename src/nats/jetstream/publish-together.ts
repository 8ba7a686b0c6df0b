import type { Msg } from 'nats';
import type { ThroughlineError } from '../../contracts/errors.js';
import { takenByAnother } from '../connection/nats-errors.js';
import { batchAnswer, type PubOutcome } from './publish-outcome.js';

interface Waiting extends BatchMessage {
  readonly alone: () => Promise<PubOutcome>;
  readonly resolve: (outcome: PubOutcome | Promise<PubOutcome>) => void;
  readonly reject: (error: unknown) => void;
}

/** Fewer are published one by one: a batch costs an answer for its begin and one for its end. */
const FEWEST = 3;
/** For so long nothing is sent as a batch to a stream that has refused one whole. */
const REFUSED_MS = 60_000;

/**
 * Publishes what is handed in within one turn of the event loop together, each stream's messages as a batch of the
 * server's fast ingest, which answers once for all of them. Nothing waits for more to come: it leaves at the end of the turn.
 */
export class PublishTogether {
  readonly #publishBatch: (stream: string, messages: readonly BatchMessage[]) => Promise<BatchOutcome>;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #refusedUntil = new Map<string, number>();

  constructor(publishBatch: (stream: string, messages: readonly BatchMessage[]) => Promise<BatchOutcome>) {
    this.#publishBatch = publishBatch;
  }

  /** @param alone publishes the message by itself: where it is one of few, or its batch did not store it */
  publish(
    stream: string,
    subject: string,
    data: Uint8Array | string,
    alone: () => Promise<PubOutcome>,
  ): Promise<PubOutcome> {
    // The first of a turn: what is begun behind it, also by promises that are settled already, is in the same batches.
    if (this.#waiting.size === 0) process.nextTick(() => this.#send());
    const together = this.#waiting.get(stream) ?? [];
    if (together.length === 0) this.#waiting.set(stream, together);
    return new Promise((resolve, reject) => together.push({ subject, data, alone, resolve, reject }));
  }

  #send(): void {
    const groups = [...this.#waiting];
    this.#waiting.clear();
    for (const [stream, together] of groups) {
      const isBatch = together.length >= FEWEST && !this.#isRefused(stream);
      if (isBatch) void this.#sendBatch(stream, together);
      else for (const each of together) publishAlone(each);
    }
  }

  async #sendBatch(stream: string, together: readonly Waiting[]): Promise<void> {
    try {
      const sequences = await this.#publishBatch(stream, together);
      if (sequences.every((sequence) => sequence === 0))
        this.#refusedUntil.set(stream, performance.now() + REFUSED_MS);
      for (const [at, each] of together.entries()) {
        const sequence = sequences[at] ?? 0;
        if (sequence === 0) publishAlone(each);
        else each.resolve({ outcome: 'stored', sequence, duplicate: false, isAtMost: true });
      }
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }

  #isRefused(stream: string): boolean {
    return performance.now() < (this.#refusedUntil.get(stream) ?? 0);
  }
}

/** One that cannot even begin, as that of a session that was forgotten meanwhile, keeps no other from being published. */
function publishAlone({ alone, resolve, reject }: Waiting): void {
  try {
    resolve(alone());
  } catch (error) {
    reject(error);
  }
}

/** A message of a batch. */
export interface BatchMessage {
  readonly subject: string;
  readonly data: Uint8Array | string;
}

/** What has become of a batch: for each message the sequence that it is at most stored under, or 0 for one that is not stored. */
export type BatchOutcome = readonly number[];

/**
 * The answers to one batch, as they come.
 *
 * A batch is not atomic: the server stores one message after the other, and may refuse any. It answers once, at the end,
 * with how many it has taken and the sequence of the last one. Those of the others follow from it where nothing else came
 * into the stream meanwhile; otherwise they are lower.
 */
export class PublishBatch {
  readonly #stream: string;
  readonly size: number;
  readonly #refused = new Set<number>();
  #isBegun = false;
  #isEnding = false;

  constructor(stream: string, size: number) {
    this.#stream = stream;
    this.size = size;
  }

  /** The outcome of a batch of which nothing is stored. */
  nothing(): BatchOutcome {
    return this.#stored(0, 0);
  }

  /**
   * Takes in an answer. Gives the outcome once it is known, or a fault that concerns all messages; `'end'` where the server
   * waits for a message that it has refused, so that the batch must be ended instead.
   */
  answered(message: Msg): BatchOutcome | ThroughlineError | 'end' | undefined {
    const answer = batchAnswer(message);
    switch (answer?.kind) {
      case undefined:
        return undefined;
      case 'no_stream':
        return this.nothing();
      case 'begun':
        this.#isBegun = true;
        return undefined;
      case 'refused':
        this.#refused.add(answer.n);
        // What comes behind the first one belongs to no batch.
        if (!this.#isBegun) return this.nothing();
        if (answer.n !== this.size || answer.ends || this.#isEnding) return undefined;
        this.#isEnding = true;
        return 'end';
      case 'ended':
        if (answer.stream !== this.#stream)
          return takenByAnother('a batch of events', answer.stream, this.#stream);
        return this.#stored(answer.taken, answer.sequence);
    }
  }

  #stored(taken: number, last: number): BatchOutcome {
    const sequences = new Array<number>(this.size).fill(0);
    let sequence = last;
    for (let n = Math.min(taken, this.size); n > 0; n -= 1) {
      if (this.#refused.has(n)) continue;
      sequences[n - 1] = sequence;
      sequence -= 1;
    }
    return sequences;
  }
}
