import type { Msg } from 'nats';
import type { ThroughlineError } from '../../contracts/errors.js';
import { takenByAnother } from '../connection/nats-errors.js';
import { batchAnswer, type PubOutcome } from './publish-outcome.js';

interface Waiting extends BatchMessage {
  readonly alone: () => Promise<PubOutcome>;
  readonly resolve: (outcome: PubOutcome | Promise<PubOutcome>) => void;
  readonly reject: (error: unknown) => void;
}

/** Fewer are published individually: a batch costs two answers. */
const FEWEST = 3;
/** Time without batches for a stream that has refused a whole one. */
const REFUSED_MS = 60_000;

/**
 * Collects the publishes of one turn of the event loop into a batch per stream, which is answered once. Adds no latency: the
 * batch is sent at the end of the turn.
 */
export class PublishTogether {
  readonly #publishBatch: (stream: string, messages: readonly BatchMessage[]) => Promise<BatchOutcome>;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #refusedUntil = new Map<string, number>();

  constructor(publishBatch: (stream: string, messages: readonly BatchMessage[]) => Promise<BatchOutcome>) {
    this.#publishBatch = publishBatch;
  }

  /** @param alone publishes the message individually, if there are few or its batch did not store it */
  publish(
    stream: string,
    subject: string,
    data: Uint8Array | string,
    alone: () => Promise<PubOutcome>,
  ): Promise<PubOutcome> {
    // On the first message of a turn; messages from already settled promises are included.
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

/** A publish that throws, for example because its session was forgotten, must not affect the others. */
function publishAlone({ alone, resolve, reject }: Waiting): void {
  try {
    resolve(alone());
  } catch (error) {
    reject(error);
  }
}

export interface BatchMessage {
  readonly subject: string;
  readonly data: Uint8Array | string;
}

/** For each message of a batch an upper bound of its sequence, or 0 if it is not stored. */
export type BatchOutcome = readonly number[];

/**
 * The answers to one batch.
 *
 * A batch is not atomic: the server stores messages one by one and may refuse any. It answers at the end with the number taken
 * and the last sequence. The other sequences follow if no other message entered the stream meanwhile; otherwise they are lower.
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

  nothing(): BatchOutcome {
    return this.#stored(0, 0);
  }

  /**
   * Processes an answer. Returns the outcome once it is known, or an error that concerns all messages; `'end'` if the server
   * waits for a message that it has refused, so that the batch must be ended explicitly.
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
        // Messages behind a refused first one belong to no batch.
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
