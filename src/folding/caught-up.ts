import { ThroughlineError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import type { SessionLog } from '../ports/session-log.js';
import { Backoff } from '../runtime/pauses.js';
import { withinDeadline } from '../shared/deadline.js';
import type { LoadedSession, SessionReader } from './session-folding.js';

/** An announced event may take a moment until it can be read. */
const FIRST_WAIT_MS = 1;
/** If an announcement gets lost, the session is read anyway. */
const LONGEST_WAIT_MS = 100;

/**
 * Loads a session once it has folded a dispatch: read your writes.
 *
 * @throws ThroughlineError `not_caught_up` after `timeoutMs`, with the sequence of the session
 */
export async function caughtUp(
  { reader, log }: { reader: SessionReader; log: SessionLog },
  session: Token,
  dispatch: number,
  timeoutMs: number,
): Promise<LoadedSession> {
  const deadline = performance.now() + timeoutMs;
  // Before the first look: what is stored after it is announced, and no second look is needed to be sure.
  const announced = announcements(log, session);
  let replayed = 0;
  const wait = new Backoff(FIRST_WAIT_MS, LONGEST_WAIT_MS);
  try {
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
    announced.close();
  }
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
