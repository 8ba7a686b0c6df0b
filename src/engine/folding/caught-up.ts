import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { withinDeadline } from '../../shared/backoff.js';
import type { SessionLog } from '../ports/session-log.js';
import { Backoff } from '../runtime/batched.js';
import type { LoadedSession, SessionReader } from './session-folding.js';

/** An announced event may become readable a moment later. */
const FIRST_WAIT_MS = 1;
/** Poll interval in case an announcement gets lost. */
const LONGEST_WAIT_MS = 100;

/** Limits of concurrent waits per process: every event of its session wakes a wait, which also polls every 100 ms. */
const MOST_WAITING = { ofSession: 200, ofAll: 1000 } as const;
/** By then a wait has ended or timed out. */
const RETRY_AFTER_MS = 1000;

/** Limits the concurrent waits, per session and in total. */
export class Waiters {
  readonly #most: { readonly ofSession: number; readonly ofAll: number };
  readonly #ofSession = new Map<Token, number>();
  #all = 0;

  constructor(most: { readonly ofSession: number; readonly ofAll: number } = MOST_WAITING) {
    this.#most = most;
  }

  /** Returns the function that ends the wait, or the error `rate_limited` with `retryAfterMs` in its details. */
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
 * Loads a session once it has folded a dispatch (read your writes).
 *
 * @throws ThroughlineError `not_caught_up` after `timeoutMs`, with the session's sequence; `rate_limited` if too many wait
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
    // Subscribe before the first load, so that no event falls in between.
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

/** Answers without waiting if the limit is reached but the dispatch is already folded. */
function folded(loaded: LoadedSession, dispatch: number, refusal: ThroughlineError): LoadedSession {
  if (loaded.folded.state.dispatches.has(dispatch)) return loaded;
  throw refusal;
}

function announcements(log: SessionLog, session: Token) {
  let pending = false;
  let wake: (() => void) | undefined;
  const unwatch = log.watch(session, () => {
    pending = true;
    wake?.();
  });
  return {
    close: unwatch,
    /** Waits at most `ms` for an announcement; resolves to `false` if there was none. */
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
