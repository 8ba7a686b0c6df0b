import { setTimeout as sleep } from 'node:timers/promises';
import type { TimelineEntry } from '../../contracts/replies/timeline-reply.js';

/** What is new in a timeline. */
export interface Newer {
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** The event up to which there is nothing else. */
  readonly sequence: number;
  /** There is more than was asked for. */
  readonly isCut: boolean;
}

export interface FollowerOptions {
  /** The entries behind an event, or only where the timeline stands now. Rejects when it cannot be told. */
  readonly ask: (after: number | undefined) => Promise<Newer>;
  readonly tell: (entry: TimelineEntry) => void;
  /** Entries were left out: those who follow must ask for themselves. */
  readonly lost: () => void;
}

/** An event may be heard of before it is stored: it is asked for after each of these pauses, in milliseconds. */
const PAUSES = [0, 40, 200, 1000];
/** Least time between two requests, in milliseconds: of a burst of events each one brings many. */
const LEAST_MS = 15;

/**
 * Follows the timeline of one session for all browsers that show it, so that it is asked for once and not by each of
 * them.
 */
export class SessionFollower {
  readonly #options: FollowerOptions;
  readonly #closing = new AbortController();
  /** Up to which event everything is told; unknown at first, and after a failure. */
  #told: number | undefined;
  #pause = 0;
  #isRunning = false;
  /** Ends the pause that it is in. */
  #wake = new AbortController();

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.poke();
  }

  /** Something has happened in the session. */
  poke(): void {
    this.#pause = 0;
    this.#wake.abort();
    if (!this.#isRunning) void this.#run();
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { signal } = this.#closing;
    while (this.#pause < PAUSES.length && !signal.aborted) {
      const pauseMs = PAUSES[this.#pause] ?? 0;
      this.#pause += 1;
      this.#wake = new AbortController();
      if (pauseMs > 0) {
        await sleep(pauseMs, undefined, { signal: AbortSignal.any([signal, this.#wake.signal]) }).catch(
          () => {},
        );
      }
      if (signal.aborted) return;
      // Woken: something else has happened, and is asked for at once.
      if (this.#wake.signal.aborted) continue;
      const asked = this.#ask();
      await sleep(LEAST_MS, undefined, { signal }).catch(() => {});
      await asked;
    }
    this.#isRunning = false;
  }

  async #ask(): Promise<void> {
    const after = this.#told;
    const newer = await this.#options.ask(after).catch(() => undefined);
    if (this.#closing.signal.aborted) return;
    this.#told = newer?.sequence;
    if (newer === undefined || after === undefined || newer.sequence === after) return;
    // What came together with it may be stored a moment later.
    this.#pause = Math.max(this.#pause, PAUSES.length - 1);
    if (newer.isCut) this.#options.lost();
    else for (const entry of newer.entries) this.#options.tell(entry);
  }
}
