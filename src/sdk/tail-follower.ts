import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from '../engine/runtime/batched.js';

interface FollowedStretch<Item> {
  readonly items: readonly Item[];
  /** All items up to here were read. */
  readonly through: number;
  readonly isMore: boolean;
}

export interface TailFollowerOptions<Item> {
  readonly after: number;
  readonly read: (after: number) => Promise<FollowedStretch<Item>>;
  readonly tell: (items: readonly Item[]) => Promise<void>;
  /** Reports a failed read, which is retried. */
  readonly failed: (error: unknown) => void;
}

/** An announced item may become readable later: read again after each of these pauses, in milliseconds. */
const PAUSES = [40, 200, 1000];
const FIRST_RETRY_MS = 250;

/** Tails a log by its cursor: each hint triggers a read from there, so lost or repeated hints neither skip nor repeat items. */
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

  /** Hints that there may be new items. */
  poke(): void {
    this.#isPoked = true;
    this.#pause.abort();
    if (!this.#isFollowing && !this.#isClosed) void this.#follow();
  }

  get at(): number {
    return this.#after;
  }

  /**
   * Reports the end of the log as of a look: a cursor beyond it means that the log was replaced.
   *
   * @param before cursor before that look; it may have advanced since
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
    // A hint arrived during the last step.
    if (this.#isPoked && !this.#isClosed) void this.#follow();
  }

  async #wait(ms: number): Promise<void> {
    this.#pause = new AbortController();
    if (this.#isPoked || this.#isClosed) return;
    await sleep(ms, undefined, { signal: this.#pause.signal }).catch(() => {});
  }
}
