import { checkOptions } from '../contracts/errors.js';
import { announcedOn, type Token, token } from '../contracts/names.js';
import type { ToolInput } from '../contracts/requests.js';
import type { TimelineEntry, TimelineListed } from '../contracts/result-requests.js';
import type { SessionEvent } from '../contracts/session-events.js';
import type { ClientTransport } from '../engine/ports/client-transport.js';
import { Backoff } from '../engine/runtime/pacing.js';
import { linkedSignal, withinDeadline } from '../shared/deadlines.js';
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

/** Follows the timeline of a session by requests about it alone, as a user bound to the session may make them. */
export async function* watchSession(
  transport: Pick<ClientTransport, 'listen'>,
  closing: AbortSignal,
  options: WatchInput,
  list: ListTimeline,
): AsyncGenerator<WatchedEvent, void> {
  checkOptions(options, { session: true, after: true, signal: true }, 'watch');
  const session = token(options.session, 'session');
  let waiting: WatchedEvent[] = [];
  let failure: unknown;
  let wake = () => {};
  const failed = (error: unknown) => {
    if (!passes(error)) failure = error;
    wake();
  };
  let { after } = options;
  try {
    after ??= (await list({ session, limit: 1 })).sequence;
  } catch (error) {
    if (closing.aborted || options.signal?.aborted) return;
    throw error;
  }
  const tell = (entries: readonly WatchedEvent[]) => {
    waiting.push(...entries);
    wake();
  };
  const tail = new TimelineTail(list, { session, after }, { tell, failed });
  const stop = linkedSignal([closing, options.signal]);
  stop.signal.addEventListener('abort', () => wake());
  const looking = setInterval(() => tail.look(), LOOK_EVERY_MS);
  const unlisten = transport.listen?.(announcedOn(session), () => tail.poke());
  tail.poke();
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
    tail.close();
    stop.release();
  }
}

interface TailListener {
  readonly tell: (events: readonly WatchedEvent[]) => void;
  /** Reports a failed read, which is retried. */
  readonly failed: (error: unknown) => void;
}

/** An announced event may become readable later: read again after each of these pauses, in milliseconds. */
const PAUSES = [40, 200, 1000];
const FIRST_RETRY_MS = 250;

/**
 * Tails the timeline of a session by its cursor: each hint triggers a read from there, so lost or repeated hints neither skip nor
 * repeat events. A timeline that ends before the cursor was replaced, and is followed from its end.
 */
export class TimelineTail {
  readonly #list: ListTimeline;
  readonly #session: Token;
  readonly #on: TailListener;
  #after: number;
  /** Reads that follow without a hint; undefined while none runs. */
  #looks: number | undefined;
  #isPoked = false;
  #isClosed = false;
  /** Ends the present pause. */
  #wake = () => {};

  constructor(
    list: ListTimeline,
    { session, after }: { readonly session: Token; readonly after: number },
    on: TailListener,
  ) {
    this.#list = list;
    this.#session = session;
    this.#after = after;
    this.#on = on;
  }

  /** Hints that there are new events. */
  poke(): void {
    this.#isPoked = true;
    this.#wake();
    this.look(0);
  }

  /** Reads once, unless it is reading already. */
  look(looks = PAUSES.length): void {
    if (this.#looks !== undefined || this.#isClosed) return;
    this.#looks = looks;
    void this.#follow();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async #follow(): Promise<void> {
    const backoff = new Backoff(FIRST_RETRY_MS);
    for (let looks = this.#looks ?? 0; !this.#isClosed; ) {
      if (this.#isPoked) looks = 0;
      this.#isPoked = false;
      let pauseMs: number | undefined;
      try {
        const events = await this.#read();
        backoff.reset();
        if (events.length > 0) this.#on.tell(events);
        if (this.#isPoked) continue;
        pauseMs = PAUSES[looks];
        looks += 1;
      } catch (error) {
        if (this.#isClosed) break;
        this.#on.failed(error);
        pauseMs = backoff.take();
      }
      if (pauseMs === undefined) break;
      if (this.#isPoked) continue;
      const paused = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await withinDeadline(pauseMs, paused);
    }
    this.#looks = undefined;
  }

  /** Reads everything after the cursor, and moves it. */
  async #read(): Promise<WatchedEvent[]> {
    const kinds: WatchedEvent['kind'][] = ['result', 'rejected', 'command', 'trace'];
    const range = { session: this.#session, after: this.#after, kinds, limit: 500 };
    let page = await this.#list(range);
    // The newest first: a later page may see more than the first one did.
    const { sequence } = page;
    const events = [...page.entries];
    while (page.next !== undefined) {
      page = await this.#list({ ...range, cursor: page.next });
      events.push(...page.entries);
    }
    this.#after = sequence;
    return events.toReversed() as WatchedEvent[];
  }
}
