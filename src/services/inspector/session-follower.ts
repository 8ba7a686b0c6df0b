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

interface FollowerOptions {
  /** The entries behind an event, or only where the timeline stands now. Rejects when it cannot be told. */
  readonly ask: (after: number | undefined) => Promise<Newer>;
  readonly tell: (entry: TimelineEntry) => void;
  /** Entries were left out: those who follow must ask for themselves. */
  readonly lost: () => void;
}

/** An event may be heard of before it is stored: it is asked for again after each of these pauses, in milliseconds. */
const PAUSES = [40, 200, 1000];

/**
 * Follows the timeline of one session for all browsers that show it, so that it is asked for once and not by each of
 * them.
 */
export class SessionFollower {
  readonly #options: FollowerOptions;
  /** Up to which event everything is told; unknown at first, and after a failure. */
  #told: number | undefined;
  #hasFailed = false;
  #isAsking = false;
  /** Something happened after the question was sent. */
  #isPoked = false;
  /** Which pause comes next. */
  #pause = PAUSES.length;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    void this.#ask();
  }

  /** Something has happened in the session. */
  poke(): void {
    this.#pause = 0;
    this.#isPoked = true;
    if (!this.#isAsking && !this.#isClosed) void this.#ask();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isAsking = true;
    this.#isPoked = false;
    const newer = await this.#options.ask(this.#told).catch(() => undefined);
    this.#isAsking = false;
    if (this.#isClosed) return;
    this.#answered(newer);
    if (this.#isPoked) {
      void this.#ask();
    } else if (this.#pause < PAUSES.length) {
      this.#timer = setTimeout(() => void this.#ask(), PAUSES[this.#pause]);
      this.#pause += 1;
    }
  }

  #answered(newer: Newer | undefined): void {
    const after = this.#told;
    this.#told = newer?.sequence;
    if (newer === undefined) {
      this.#hasFailed = true;
    } else if (after === undefined) {
      // What happened between the failure and now is not known; nor whether a browser that asked before this answer came
      // has what happened meanwhile.
      if (this.#hasFailed || this.#isPoked) this.#options.lost();
      this.#hasFailed = false;
    } else if (newer.sequence !== after) {
      // What came together with it may be stored a moment later.
      if (!this.#isPoked) this.#pause = PAUSES.length - 1;
      if (newer.isCut) this.#options.lost();
      else for (const entry of newer.entries) this.#options.tell(entry);
    }
  }
}
