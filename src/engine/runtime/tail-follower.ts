import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from './pauses.js';

/** A stretch of what is followed. */
interface FollowedStretch<Item> {
  /** Oldest first. */
  readonly items: readonly Item[];
  /** Up to where all is in it. */
  readonly through: number;
  /** There may be more behind it. */
  readonly isMore: boolean;
}

interface TailFollowerOptions<Item> {
  /** The sequence after which it begins. */
  readonly after: number;
  readonly read: (after: number) => Promise<FollowedStretch<Item>>;
  readonly tell: (items: readonly Item[]) => Promise<void>;
  /** A read failed, and is tried again. */
  readonly failed: (error: unknown) => void;
}

/** What is heard of may be stored a moment later: it is looked for again after each of these pauses, in milliseconds. */
const PAUSES = [40, 200, 1000];
const FIRST_RETRY_MS = 250;

/**
 * Follows a log by its sequences: each hint has it read on from where it was, so nothing is left out or told twice,
 * whatever hints are lost.
 */
export class TailFollower<Item> {
  readonly #options: TailFollowerOptions<Item>;
  #after: number;
  #isFollowing = false;
  #isPoked = false;
  #isClosed = false;
  #pause = new AbortController();

  constructor(options: TailFollowerOptions<Item>) {
    this.#options = options;
    this.#after = options.after;
  }

  /** Something may be new. */
  poke(): void {
    this.#isPoked = true;
    this.#pause.abort();
    if (!this.#isFollowing && !this.#isClosed) void this.#follow();
  }

  /** Sequence up to which it has read. */
  get at(): number {
    return this.#after;
  }

  /**
   * The log ended here at a look: one that was at lower numbers is another one.
   *
   * @param before where this follower was before that look; it may have gone on since
   */
  endsAt(sequence: number, before: number): void {
    if (sequence < before) this.#after = sequence;
    else if (sequence <= this.#after) return;
    this.poke();
  }

  close(): void {
    this.#isClosed = true;
    this.#pause.abort();
  }

  async #follow(): Promise<void> {
    this.#isFollowing = true;
    const backoff = new Backoff(FIRST_RETRY_MS);
    for (let looks = 0; !this.#isClosed; ) {
      if (this.#isPoked) looks = 0;
      this.#isPoked = false;
      let pauseMs: number | undefined;
      try {
        const { items, through, isMore } = await this.#options.read(this.#after);
        this.#after = Math.max(this.#after, through);
        backoff.reset();
        if (items.length > 0) await this.#options.tell(items);
        if (isMore || this.#isPoked) continue;
        pauseMs = PAUSES[looks];
        looks += 1;
      } catch (error) {
        if (this.#isClosed) break;
        this.#options.failed(error);
        pauseMs = backoff.take();
      }
      if (pauseMs === undefined) break;
      await this.#wait(pauseMs);
    }
    this.#isFollowing = false;
    // A hint that came with the last step.
    if (this.#isPoked && !this.#isClosed) void this.#follow();
  }

  async #wait(ms: number): Promise<void> {
    this.#pause = new AbortController();
    if (this.#isPoked || this.#isClosed) return;
    await sleep(ms, undefined, { signal: this.#pause.signal }).catch(() => {});
  }
}
