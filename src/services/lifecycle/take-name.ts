import { isDeepStrictEqual } from 'node:util';
import type { Archived } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { Clock } from '../../ports/clock.js';
import type { SessionActivity } from '../../ports/session-activity.js';
import type { SessionEraser } from '../../ports/session-eraser.js';
import type { SessionLifecycle } from '../../ports/session-lifecycle.js';
import { archivedSince, asReady, asTaken } from '../common/archived-record.js';
import { isLeftOver } from '../common/own-name.js';
import { NOTICED_MS, SETTLED_MS } from './forget-session.js';
import { exists } from './new-session.js';
import { isForgetting, lost, type RenameClaim } from './rename-claim.js';

export interface TakeNamePorts {
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten' | 'change'>;
  readonly log: Pick<SessionActivity, 'newest'>;
  readonly eraser: Pick<SessionEraser, 'eraseLog'>;
  readonly clock: Clock;
  /** Waits so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>;
}

export const OTHER_NAME = 'choose another name';

/**
 * Takes the new name for a rename: then nothing can come any more under either name, and nothing is under the new one.
 *
 * @throws ThroughlineError `session_exists` where it is not free, or another rename was faster
 */
export async function takeName(ports: TakeNamePorts, claim: RenameClaim): Promise<void> {
  const { lifecycle, clock, pause, log, eraser } = ports;
  const { session, to } = claim;
  const left = await leftOver(ports, to);
  const at = archivedSince(lifecycle.forgotten(to), clock());
  const isTaken = !isForgetting(ports, to) && (await lifecycle.change(to, asTaken(session, at, left)));
  if (!isTaken) throw taken(ports, to);
  await pause(SETTLED_MS);
  await claim.hold();
  const { ready = false, left_over: isLeft = false } = lifecycle.archived(to)?.importing ?? {};
  if (ready) return;
  // Not before the name is taken: two that erase would harm each other.
  if (isLeft) await eraser.eraseLog(to);
  // A result may have been on its way.
  if ((await log.newest(to)) > 0) throw exists(to, OTHER_NAME);
  if (!(await lifecycle.change(to, asReady(claim.isItsName)))) throw lost(session);
}

/** What is recorded of a name that was taken for a rename which is lost. */
async function leftOver({ lifecycle, pause }: TakeNamePorts, to: Token): Promise<Archived | undefined> {
  const left = lifecycle.archived(to);
  if (!isLeftOver(lifecycle, to)) return undefined;
  // Another rename may have taken it a moment ago, and be known here by this record alone.
  await pause(NOTICED_MS);
  return isLeftOver(lifecycle, to) && isDeepStrictEqual(lifecycle.archived(to), left) ? left : undefined;
}

function taken({ lifecycle }: TakeNamePorts, to: Token) {
  const from = lifecycle.archived(to)?.importing?.from;
  return exists(
    to,
    from === undefined ? OTHER_NAME : `session ${from} is being renamed to it; ${OTHER_NAME}`,
  );
}
