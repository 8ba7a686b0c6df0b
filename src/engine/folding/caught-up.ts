import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { SessionLog } from '../ports/session-log.js';
import { Backoff, ConcurrencyLimit, pause } from '../runtime/pacing.js';
import type { LoadedSession, SessionReader } from './session-folding.js';

/** An announced event may become readable a moment later. */
const FIRST_WAIT_MS = 1;
/** Poll interval in case an announcement gets lost. */
const LONGEST_WAIT_MS = 100;

/** Limits the waits of a process: every event of its session wakes a wait, which also polls every 100 ms. */
export function waitLimit(): ConcurrencyLimit {
  return new ConcurrencyLimit({ perKey: 200, inTotal: 1000, what: 'requests that wait for a result' });
}

/** Loads a session once it has folded a dispatch. Throws `not_caught_up` after `timeoutMs`, `rate_limited` if too many wait. */
export async function caughtUp(
  { reader, log, waiters }: { reader: SessionReader; log: SessionLog; waiters: ConcurrencyLimit },
  session: Token,
  dispatch: number,
  timeoutMs: number,
): Promise<LoadedSession> {
  const deadline = performance.now() + timeoutMs;
  let loaded = await reader.load(session);
  if (loaded.folded.state.dispatches.has(dispatch)) return loaded;
  return waiters.run(`session ${session}`, async () => {
    const waits = new Backoff(FIRST_WAIT_MS, LONGEST_WAIT_MS);
    let { replayed } = loaded;
    let announced = new AbortController();
    const unwatch = log.watch(session, () => announced.abort());
    try {
      for (;;) {
        // Again after the subscription, so that no event falls in between.
        loaded = await reader.load(session);
        replayed += loaded.replayed;
        if (loaded.folded.state.dispatches.has(dispatch)) return { ...loaded, replayed };
        const left = deadline - performance.now();
        if (left <= 0) throw notCaughtUp(loaded.folded.state, dispatch, timeoutMs);
        await pause(Math.min(left, waits.take()), announced.signal);
        if (!announced.signal.aborted) continue;
        waits.reset();
        announced = new AbortController();
      }
    } finally {
      unwatch();
    }
  });
}

function notCaughtUp(state: LoadedSession['folded']['state'], dispatch: number, timeoutMs: number) {
  const { session, sequence } = state;
  const newest = state.dispatches.newest();
  return new ThroughlineError(
    'not_caught_up',
    `the newest result of session ${session} is ${newest}, and ${dispatch} is not in it after ${timeoutMs} ms: ` +
      'check that an extractor runs, and that the number of --after is of this session',
    { details: { session, after: dispatch, newestDispatch: newest, sequence } },
  );
}
