import type { TimelineEntry } from '../../contracts/replies/dispatch-result.js';

export interface Newer {
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** The entries are complete up to this event. */
  readonly sequence: number;
  /** There are more than requested. */
  readonly isCut: boolean;
}

interface FollowerOptions {
  /** Requests the entries after an event, or only the newest sequence. Rejects if they are unavailable. */
  readonly ask: (after: number | undefined) => Promise<Newer>;
  readonly tell: (entry: TimelineEntry) => void;
  /** Entries were skipped: followers must reload. */
  readonly lost: () => void;
}

/** An announced event may become readable later: ask again after each of these pauses, in milliseconds. */
const PAUSES = [40, 200, 1000];

/** Tails the timeline of one session for all browsers that show it. */
export class SessionFollower {
  readonly #options: FollowerOptions;
  /** Cursor; unknown at first and after a failure. */
  #told: number | undefined;
  #hasFailed = false;
  #isAsking = false;
  /** A hint arrived after the request was sent. */
  #isPoked = false;
  #pause = PAUSES.length;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    void this.#ask();
  }

  /** Hints that the session has new events. */
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
      // Events between the failure and now, or during the first request, may be missing.
      if (this.#hasFailed || this.#isPoked) this.#options.lost();
      this.#hasFailed = false;
    } else if (newer.sequence !== after) {
      // Related events may be stored a moment later.
      if (!this.#isPoked) this.#pause = PAUSES.length - 1;
      if (newer.isCut) this.#options.lost();
      else for (const entry of newer.entries) this.#options.tell(entry);
    }
  }
}
