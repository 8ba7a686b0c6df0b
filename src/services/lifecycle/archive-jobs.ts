import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { Logger } from '../../ports/logger.js';
import { LATE, withinDeadline } from '../../shared/deadline.js';
import type { Archiver } from './archive-session.js';

/**
 * Archives sessions for callers who wait some seconds only: what takes longer goes on without them, and a caller that asks again hears
 * how far it is.
 */
export interface ArchiveJobs extends Pick<Archiver, 'requireRoom'> {
  /**
   * Settles a session, or joins who is at it. Throws as `Archiver.settle`.
   *
   * @param isNew whether it was archived just now: who is at it may know of an earlier time alone
   * @returns how far it is, where it goes on
   */
  settle(session: Token, isNew?: boolean): Promise<Removing | undefined>;
  /** Ends what is under way soon: asked again, it goes on. */
  stop(): Promise<void>;
}

/** Events that go one by one. */
export interface Removing {
  readonly removed: number;
  readonly of: number;
}

interface Job extends Removing {
  readonly ended: Promise<void>;
}

/** Before clients give up on an answer. */
const ANSWER_MS = 3000;

export function createArchiveJobs(archiver: Archiver, logger: Logger): ArchiveJobs {
  const jobs = new Map<Token, Job>();
  let isStopping = false;
  const mayGoOn = async () => {
    if (isStopping) throw new ThroughlineError('unavailable', 'the service ends: ask again');
  };

  function begun(session: Token, before: Promise<unknown> = Promise.resolve()): Job {
    let done: Removing = { removed: 0, of: 0 };
    const settled = async () => {
      await before.catch(() => {});
      const onRemoved = (removed: number, of: number) => {
        done = { removed, of };
      };
      await archiver.settle(session, undefined, { mayGoOn, onRemoved });
    };
    const job: Job = {
      ended: settled().finally(() => jobs.get(session) === job && jobs.delete(session)),
      get removed() {
        return done.removed;
      },
      get of() {
        return done.of;
      },
    };
    jobs.set(session, job);
    // The caller may have been told that it goes on, and does not ask again.
    job.ended.catch((error: unknown) => {
      if (!isStopping)
        logger.warn({ session, code: codeOf(error), err: error }, 'session not archived to the end');
    });
    return job;
  }

  return {
    requireRoom: (session) => archiver.requireRoom(session),
    async settle(session, isNew = false) {
      const running = jobs.get(session);
      const job = running === undefined || isNew ? begun(session, running?.ended) : running;
      if ((await withinDeadline(ANSWER_MS, job.ended)) !== LATE) return undefined;
      const { removed, of } = job;
      return { removed, of };
    },
    async stop() {
      isStopping = true;
      await Promise.allSettled([...jobs.values()].map(({ ended }) => ended));
    },
  };
}
