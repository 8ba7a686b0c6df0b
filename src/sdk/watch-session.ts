import { setTimeout as sleep } from 'node:timers/promises';
import { checkOptions } from '../contracts/errors.js';
import { announcedOn, type Token, token } from '../contracts/names.js';
import type { TimelineEntry, TimelineListed } from '../contracts/replies/dispatch-result.js';
import type { ToolInput } from '../contracts/requests.js';
import type { SessionEvent } from '../contracts/session-events.js';
import type { ClientTransport } from '../engine/ports/client-transport.js';
import { Backoff } from '../engine/runtime/pacing.js';
import { linkedSignal } from '../shared/deadlines.js';
import { passes } from './keep-trying.js';

/** The session to watch, and from where. */
export interface WatchInput {
  readonly session: string;
  /** Sequence after which to begin, as `sequence` of an event or a reply. Default: what comes from now on. */
  readonly after?: number;
  /** Ends the watch. */
  readonly signal?: AbortSignal;
}

/** Something that happened in a session: a result, a rejected result, a command or trace entries. */
export type WatchedEvent = TimelineEntry & {
  readonly kind: 'result' | 'rejected' | 'command' | 'trace';
  readonly type: SessionEvent['type'];
};

/** An announcement may be lost, or a user may not hear any: then this is the longest delay. */
const LOOK_EVERY_MS = 2000;

type ListTimeline = (request: ToolInput<'timeline-list'>) => Promise<TimelineListed>;

/** Tells what is in the timeline of a session after a sequence, the oldest first. */
export function tailTimeline(
  session: Token,
  after: number,
  list: ListTimeline,
  on: Pick<TailFollowerOptions<WatchedEvent>, 'tell' | 'failed'>,
): TailFollower<WatchedEvent> {
  return new TailFollower<WatchedEvent>({
    ...on,
    after,
    async read(from) {
      const items: WatchedEvent[] = [];
      let page: TimelineListed | undefined;
      let through: number | undefined;
      do {
        const cursor: string | undefined = page?.next;
        page = await list({
          ...{ session, after: from, kinds: ['result', 'rejected', 'command', 'trace'], limit: 500 },
          ...(cursor !== undefined && { cursor }),
        });
        // The newest first: a later page may see more than the first one did.
        through ??= page.sequence;
        items.push(...(page.entries as WatchedEvent[]));
      } while (page.next !== undefined);
      return { items: items.toReversed(), through };
    },
  });
}

/** Follows the timeline of a session by requests about it alone, as a user bound to the session may make them. */
export async function* watchSession(
  transport: Pick<ClientTransport, 'listen'>,
  closing: AbortSignal,
  options: WatchInput,
  list: ListTimeline,
): AsyncGenerator<WatchedEvent, void> {
  checkOptions(options, { session: true, after: true, signal: true }, 'watch');
  const session = token(options.session, 'session');
  const newest = async () => (await list({ session, limit: 1 })).sequence;
  let waiting: WatchedEvent[] = [];
  let failure: unknown;
  let wake = () => {};
  const failed = (error: unknown) => {
    if (!passes(error)) failure = error;
    wake();
  };
  const follower = tailTimeline(session, options.after ?? (await newest()), list, {
    async tell(entries) {
      waiting.push(...entries);
      wake();
    },
    failed,
  });
  const look = async () => {
    const before = follower.at;
    follower.endsAt(await newest(), before);
  };
  const stop = linkedSignal([closing, options.signal]);
  stop.signal.addEventListener('abort', () => wake());
  const looking = setInterval(() => void look().catch(failed), LOOK_EVERY_MS);
  const unlisten = transport.listen?.(announcedOn(session), () => follower.poke());
  follower.poke();
  try {
    while (!stop.signal.aborted) {
      const entries = waiting;
      waiting = [];
      yield* entries;
      if (failure !== undefined) throw failure;
      if (waiting.length > 0 || stop.signal.aborted) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    clearInterval(looking);
    unlisten?.();
    follower.close();
    stop.release();
  }
}

interface TailFollowerOptions<Item> {
  readonly after: number;
  /** All items up to `through` were read. */
  readonly read: (after: number) => Promise<{ readonly items: readonly Item[]; readonly through: number }>;
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
        const { items, through } = await this.#options.read(this.#after);
        this.#after = Math.max(this.#after, through);
        backoff.reset();
        if (items.length > 0) await this.#options.tell(items);
        if (this.#isPoked) continue;
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
