import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { withinDeadline } from '../../shared/deadline.js';
import type { SessionLog } from '../ports/session-log.js';
import { Backoff } from '../runtime/pauses.js';
import type { LoadedSession, SessionReader } from './session-folding.js';

/** An announced event may take a moment until it can be read. */
const FIRST_WAIT_MS = 1;
/** If an announcement gets lost, the session is read anyway. */
const LONGEST_WAIT_MS = 100;

/** Requests that wait in a process: each is woken by every event of its session, and looks at least every 100 ms. */
const MOST_WAITING = { ofSession: 200, ofAll: 1000 } as const;
/** A wait is over by then, or has been given up: where there is room, it is taken sooner. */
const RETRY_AFTER_MS = 1000;

/** Bounds the requests that wait at a time, for one session and for all of a process. */
export class Waiters {
  readonly #most: { readonly ofSession: number; readonly ofAll: number };
  readonly #ofSession = new Map<Token, number>();
  #all = 0;

  constructor(most: { readonly ofSession: number; readonly ofAll: number } = MOST_WAITING) {
    this.#most = most;
  }

  /**
   * Takes a place.
   *
   * @returns what gives it back, or the error `rate_limited` with `retryAfterMs` in its details
   */
  enter(session: Token): (() => void) | ThroughlineError {
    const own = this.#ofSession.get(session) ?? 0;
    const { ofSession, ofAll } = this.#most;
    if (own >= ofSession) return tooMany(`session ${session} has`, ofSession);
    if (this.#all >= ofAll) return tooMany('all sessions together have', ofAll);
    this.#ofSession.set(session, own + 1);
    this.#all += 1;
    return () => {
      this.#all -= 1;
      const left = (this.#ofSession.get(session) ?? 1) - 1;
      if (left === 0) this.#ofSession.delete(session);
      else this.#ofSession.set(session, left);
    };
  }
}

function tooMany(who: string, most: number): ThroughlineError {
  return new ThroughlineError(
    'rate_limited',
    `${who} ${most} requests that wait for a result: try again in ${RETRY_AFTER_MS} ms`,
    { details: { retryAfterMs: RETRY_AFTER_MS, waiting: most } },
  );
}

/**
 * Loads a session once it has folded a dispatch: read your writes.
 *
 * @throws ThroughlineError `not_caught_up` after `timeoutMs`, with the sequence of the session; `rate_limited` where too many
 * wait already
 */
export async function caughtUp(
  { reader, log, waiters }: { reader: SessionReader; log: SessionLog; waiters: Waiters },
  session: Token,
  dispatch: number,
  timeoutMs: number,
): Promise<LoadedSession> {
  const leave = waiters.enter(session);
  if (leave instanceof ThroughlineError) return folded(await reader.load(session), dispatch, leave);
  const deadline = performance.now() + timeoutMs;
  let announced: ReturnType<typeof announcements> | undefined;
  let replayed = 0;
  const wait = new Backoff(FIRST_WAIT_MS, LONGEST_WAIT_MS);
  try {
    // Before the first look: what is stored after it is announced, and no second look is needed to be sure.
    announced = announcements(log, session);
    for (;;) {
      const loaded = await reader.load(session);
      replayed += loaded.replayed;
      const { dispatches, sequence } = loaded.folded.state;
      if (dispatches.has(dispatch)) return { ...loaded, replayed };
      const left = deadline - performance.now();
      if (left <= 0) throw notCaughtUp(session, dispatch, dispatches.newest(), sequence, timeoutMs);
      if (await announced.next(Math.min(left, wait.take()))) wait.reset();
    }
  } finally {
    leave();
    announced?.close();
  }
}

/** One that is folded already waits for nothing, and needs no place: one look, without a subscription. */
function folded(loaded: LoadedSession, dispatch: number, refusal: ThroughlineError): LoadedSession {
  if (loaded.folded.state.dispatches.has(dispatch)) return loaded;
  throw refusal;
}

/** The log's announcements, one at a time. */
function announcements(log: SessionLog, session: Token) {
  let pending = false;
  let wake: (() => void) | undefined;
  const unwatch = log.watch(session, () => {
    pending = true;
    wake?.();
  });
  return {
    close: unwatch,
    /** Waits for the next announcement, at most `ms`; `false` if there was none. */
    async next(ms: number): Promise<boolean> {
      if (!pending) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await withinDeadline(ms, woken);
        wake = undefined;
      }
      const announced = pending;
      pending = false;
      return announced;
    },
  };
}

function notCaughtUp(
  session: Token,
  dispatch: number,
  newest: number,
  sequence: number,
  timeoutMs: number,
): ThroughlineError {
  return new ThroughlineError(
    'not_caught_up',
    `session ${session} has not folded dispatch ${dispatch} after ${timeoutMs} ms; its newest is ${newest}. ` +
      'Check that an extractor runs, and that the dispatch belongs to this session',
    { details: { session, after: dispatch, newestDispatch: newest, sequence } },
  );
}
