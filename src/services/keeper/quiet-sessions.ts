import type { Token } from '../../contracts/names.js';

/** Milliseconds of quiet, or of work without an end, after which something is due. */
export interface QuietTimes {
  /** A session that has not moved for so long gets its entry in the index. */
  readonly quietMs: number;
  /** So does one that moves all the time. */
  readonly busyMs: number;
  /** A session that has not moved for so long gets its snapshot. */
  readonly restMs: number;
}

interface Waiting {
  /** When it moved first since its entry was written, and when it moved last. */
  first: number;
  last: number;
  /** Whether its entry is still to be written. */
  isUnwritten: boolean;
}

export interface Due {
  readonly session: Token;
  /** Whether it has rested for so long that it gets its snapshot. */
  readonly rests: boolean;
}

/** Which sessions are to be folded when: those that went quiet, and from time to time those that do not. */
export class QuietSessions {
  readonly #times: QuietTimes;
  readonly #waiting = new Map<Token, Waiting>();

  constructor(times: QuietTimes) {
    this.#times = times;
  }

  /** Sessions for which something will be due. */
  get size(): number {
    return this.#waiting.size;
  }

  /** It moved at `at`, in milliseconds since 1970. */
  moved(session: Token, at: number): void {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) this.#waiting.set(session, { first: at, last: at, isUnwritten: true });
    else {
      if (!waiting.isUnwritten) waiting.first = at;
      waiting.isUnwritten = true;
      waiting.last = Math.max(waiting.last, at);
    }
  }

  /** What is due, at most `limit`: it is taken as done, so what fails is to be said to have moved. */
  take(now: number, limit: number): Due[] {
    const { quietMs, busyMs, restMs } = this.#times;
    const due: Due[] = [];
    for (const [session, waiting] of this.#waiting) {
      if (due.length >= limit) break;
      const quiet = now - waiting.last;
      if (quiet >= restMs) this.#waiting.delete(session);
      else if (waiting.isUnwritten && (quiet >= quietMs || now - waiting.first >= busyMs))
        waiting.isUnwritten = false;
      else continue;
      due.push({ session, rests: quiet >= restMs });
    }
    return due;
  }
}
