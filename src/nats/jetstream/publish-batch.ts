import type { Msg } from 'nats';
import type { ThroughlineError } from '../../contracts/errors.js';
import { takenByAnother } from '../connection/nats-errors.js';
import { batchAnswer } from './batch-answer.js';

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
