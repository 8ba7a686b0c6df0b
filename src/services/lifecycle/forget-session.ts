import { ThroughlineError } from '../../contracts/errors.js';
import type { Forgotten } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/session-requests.js';
import type { ProjectCommander, ProjectReader } from '../../engine/folding/session-folding.js';
import type { HeldLease } from '../../engine/ports/lease-store.js';
import type { Clock, Logger } from '../../engine/ports/logger-and-clock.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { LearningLog, SessionIndex } from '../../engine/ports/session-log.js';
import { learningsCheckpoint, withoutSession } from '../../memory/learnings/learnings-snapshot.js';
import type { LearningState } from '../../memory/learnings/learnings-state.js';
import { RING_SIZE } from '../../nats/jetstream/topology.js';
import type { NatsSessionEraser } from '../../nats/stores/nats-session-eraser.js';
import type { Handler } from '../common/service-shell.js';

/**
 * Forgets sessions: erases everything from streams, buckets and the store's files, so that a new session of the name starts
 * empty.
 *
 * `beginForgetting` records it with the time (fence). All processes notice within `SETTLED_MS`: they hold back results of the
 * session and refuse requests about it. `forgetSessions` does the rest in one pass, which can be run again:
 *
 * 1. Wait until everyone has noticed, and record the boundary: the last result that was stored by then. Results up to it never
 *    become events again; later ones belong to the next session of the name.
 * 2. Erase everything stored of it, until nothing is found.
 * 3. Rewrite buckets, whose files hold replaced values.
 * 4. Record it without its name.
 */
export interface ForgetPorts extends LearningsPorts {
  readonly lifecycle: SessionLifecycle;
  readonly eraser: Pick<NatsSessionEraser, keyof NatsSessionEraser>;
  readonly index: Pick<SessionIndex, 'remove'>;
  readonly clock: Clock;
  readonly pause: (ms: number) => Promise<void>;
  readonly logger: Logger;
}

/** By then every process has seen a record, and has stored what it had started before. */
export const SETTLED_MS = 2000;

/** The ports of `beginForgetting`; retention rules have them, too. */
export interface BoundaryPorts {
  readonly lifecycle: SessionLifecycle;
  readonly eraser: Pick<NatsSessionEraser, 'lastDispatch'>;
  readonly clock: Clock;
}

/**
 * Records that a session is to be forgotten, with the last result of DISPATCH as least boundary: what is stored by now goes,
 * whatever the clocks say. A repetition extends the request and never moves the boundary.
 */
export async function beginForgetting(
  { lifecycle, eraser, clock }: BoundaryPorts,
  session: Token,
  withLearnings = false,
): Promise<void> {
  const dispatches = await eraser.lastDispatch();
  await lifecycle.change(session, ({ forgotten }) => {
    const { sequence = 0 } = forgotten ?? {};
    const begun = { status: 'forgetting', at: clock(), dispatches, sequence } as const;
    const record = forgotten?.status === 'forgetting' ? forgotten : begun;
    return { forgotten: { ...record, ...(withLearnings && { with_learnings: true }) } };
  });
}

/**
 * Erases all sessions that are recorded as being forgotten; can be repeated. It needs the lease of all erasing: another eraser
 * could erase the next session of the name. Throws ThroughlineError as the ports do, `conflict` if the lease is lost.
 */
export async function forgetSessions(ports: ForgetPorts, lease: HeldLease): Promise<void> {
  const { lifecycle, eraser, clock, pause, logger } = ports;
  const begun = lifecycle.unfinished().flatMap((session) => {
    const record = lifecycle.forgotten(session);
    return record === undefined ? [] : [{ session, record }];
  });
  const newest = Math.max(...begun.map(({ record }) => Date.parse(record.at)));
  const ms = newest + SETTLED_MS - Date.parse(clock());
  if (ms > 0) await pause(ms);
  const counts = await Promise.all(begun.map(({ session }) => eraser.count(session)));
  // A full ring has dropped prompts, whose text is still in the files.
  if (counts.some(({ prompts }) => prompts >= RING_SIZE)) await eraser.rewrite('prompts');
  for (const { session, record } of begun) await erase(ports, lease, session, record);
  await eraser.rewrite('buckets');
  await lease.confirm();
  for (const { session, record } of begun)
    await lifecycle.change(session, (there) => {
      if (!isBegun(there.forgotten, record.at)) return there;
      const { dispatches, sequence } = there.forgotten;
      return { forgotten: { status: 'forgotten', at: clock(), dispatches, sequence } };
    });
  // Its records contained the names until now.
  await eraser.rewrite('lifecycle');
  logger.info({ sessions: begun.length }, 'sessions forgotten');
}

function isBegun(record: Forgotten | undefined, at: string): record is Forgotten {
  return record?.status === 'forgetting' && record.at === at;
}

async function erase(
  { lifecycle, eraser, pause, index, ...ports }: ForgetPorts,
  lease: HeldLease,
  session: Token,
  { at, with_learnings: withLearnings = false }: Forgotten,
): Promise<void> {
  const until = new Date(Date.parse(at) + SETTLED_MS).toISOString();
  const marks = await eraser.marks(session, until);
  await lease.confirm();
  const { forgotten } = await lifecycle.change(session, (there) => {
    if (!isBegun(there.forgotten, at)) return there;
    // A repetition finds less.
    const dispatches = Math.max(marks.dispatches, there.forgotten.dispatches);
    const sequence = Math.max(marks.sequence, there.forgotten.sequence);
    return { forgotten: { ...there.forgotten, dispatches, sequence } };
  });
  if (!isBegun(forgotten, at)) return;
  for (let isLeft = true; isLeft; ) {
    await lease.confirm();
    // Through its own port, which notifies lists.
    await index.remove(session);
    const stored = await eraser.erase(session, forgotten);
    const learnings = await forgetInLearnings({ ...ports, eraser }, session, withLearnings);
    isLeft = !isNothing({ ...stored, learnings });
    // Writes in progress during this round may have landed behind it.
    if (isLeft) await pause(SETTLED_MS / 4);
  }
}

function isNothing(counts: StoredCounts): boolean {
  return Object.values(counts).every((count) => count === 0);
}

/** Removes sessions from learnings: a checkpoint of the rest is appended, and all earlier events are erased. */
interface LearningsPorts {
  readonly learnings: LearningLog;
  readonly projects: Pick<ProjectReader, 'load'>;
  readonly inBackground: ProjectCommander;
  readonly eraser: Pick<NatsSessionEraser, 'eraseLearnings'>;
}

/** Removes a session from all projects, and returns what that has changed. A repetition removes what was written late. */
async function forgetInLearnings(
  { learnings, projects, inBackground, eraser }: LearningsPorts,
  session: Token,
  withLearnings: boolean,
): Promise<number> {
  let sum = 0;
  for (const project of await learnings.projects()) {
    const { state } = (await projects.load(project)).folded;
    const { changed } = withoutSession(state, session, { withLearnings });
    sum += changed;
    const { events } = await learnings.read(project, { after: 0 });
    // The state may have compacted a name away that its events contain.
    const isNamed = JSON.stringify(events).includes(`"session":${JSON.stringify(session)}`);
    const rest = (now: LearningState) =>
      learningsCheckpoint(withoutSession(now, session, { withLearnings }).state);
    const checkpoint = changed > 0 || isNamed ? await checkpointProject(inBackground, project, rest) : 0;
    // Without a checkpoint, a snapshot of an earlier state may have been written since.
    await eraser.eraseLearnings(project, checkpoint);
  }
  return sum;
}

/** Appends a checkpoint of what is left of the learnings of a project; returns its sequence. */
export async function checkpointProject(
  command: ProjectCommander,
  project: Token,
  left: (state: LearningState) => ReturnType<typeof learningsCheckpoint>,
): Promise<number> {
  let sequence = 0;
  await command(project, 'forget', (state) => ({
    kind: 'append',
    event: { type: 'checkpoint', data: left(state) },
    reply: ({ lastEvent }) => {
      sequence = lastEvent;
      return {};
    },
  }));
  return sequence;
}

/**
 * Answers `session-forget`, which only records it: the keeper erases, and a dry run tells if it still does. Repeating the
 * request could erase what a new session of the name has received. `isKeeperRunning` is true if a keeper answers.
 */
export function createForgetTool(
  ports: Omit<ForgetPorts, 'index' | 'pause' | 'logger'>,
  isKeeperRunning: () => Promise<boolean>,
): Handler<'tool.session-forget'> {
  const { lifecycle, eraser } = ports;
  return async ({ session, confirm, dryRun, withLearnings }) => {
    if (!dryRun && confirm !== session)
      throw new ThroughlineError(
        'schema_invalid',
        `confirm: erasing cannot be undone, so give the name of the session once more: ${JSON.stringify(session)}`,
        { details: { fields: ['confirm'] } },
      );
    let learnings = 0;
    for (const project of await ports.learnings.projects()) {
      const { state } = (await ports.projects.load(project)).folded;
      learnings += withoutSession(state, session, { withLearnings }).changed;
    }
    const found = { ...(await eraser.count(session)), learnings };
    const record = lifecycle.forgotten(session);
    const wasForgotten = record?.status === 'forgotten' && isNothing(found);
    if (dryRun || wasForgotten) {
      const state = record?.status === 'forgetting' ? 'running' : dryRun ? 'counted' : 'done';
      return { session, state, found, ...(wasForgotten && { forgotten: true as const }) };
    }
    // A log that was lost has left the record of an archived session.
    if (isNothing(found) && (record ?? lifecycle.archived(session)) === undefined)
      throw new ThroughlineError(
        'not_found',
        `nothing is stored of session ${session}: "throughline session ls" lists what there is`,
        { details: { session } },
      );
    if (!(await isKeeperRunning()))
      throw new ThroughlineError(
        'unavailable',
        'no keeper runs, which erases sessions: start one with "throughline admin serve --only keeper"',
      );
    await beginForgetting(ports, session, withLearnings);
    return { session, state: 'running', found };
  };
}
