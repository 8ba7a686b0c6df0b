import { ThroughlineError } from '../../contracts/errors.js';
import type { LearningEvent } from '../../contracts/learning-events.js';
import type { Forgotten } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/session-requests.js';
import type { ProjectCommander, ProjectReader } from '../../engine/folding/session-folding.js';
import type { Clock, Logger } from '../../engine/ports/clients.js';
import type { HeldLease } from '../../engine/ports/lease-store.js';
import type { SessionIndex } from '../../engine/ports/session-index.js';
import type { ForgottenAt, SessionEraser, SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { LearningLog } from '../../engine/ports/session-log.js';
import { RING_SIZE } from '../../engine/ports/telemetry-store.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import { withoutSession } from '../../memory/learnings/forget-in-learnings.js';
import { learningsCheckpoint } from '../../memory/learnings/learnings-snapshot.js';
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
  readonly eraser: SessionEraser;
  readonly index: Pick<SessionIndex, 'remove'>;
  readonly clock: Clock;
  readonly pause: (ms: number) => Promise<void>;
  readonly logger: Logger;
}

/** By then every process has seen a record, and has stored what it had started before. */
export const SETTLED_MS = 2000;
/** Usually the second pass finds nothing. */
const MAX_PASSES = 20;
const AT_ONCE = 8;

/** Records that a session is to be forgotten. A repetition extends the request and never moves the boundary. */
export async function beginForgetting(
  { lifecycle, clock }: Pick<ForgetPorts, 'lifecycle' | 'clock'>,
  session: Token,
  withLearnings = false,
): Promise<void> {
  const asked = withLearnings ? { with_learnings: true } : {};
  await lifecycle.forgetting(session, (there) =>
    there?.status === 'forgetting'
      ? { ...fieldsOf(there), ...asked }
      : { at: clock(), dispatches: 0, sequence: 0, ...asked },
  );
}

/**
 * Erases all sessions that are recorded as being forgotten.
 *
 * @param lease of all erasing: a second eraser could erase the new session of the name that starts after the first has finished
 * @throws ThroughlineError as the ports do, `conflict` if the lease is lost; can be repeated
 */
export async function forgetSessions(ports: ForgetPorts, lease: HeldLease): Promise<void> {
  const { lifecycle, eraser, clock, logger } = ports;
  await eraser.check();
  const records = lifecycle.unfinished().flatMap((session) => {
    const record = lifecycle.forgotten(session);
    return record === undefined ? [] : [{ session, record }];
  });
  await settled(ports, records);
  const prompts = await Promise.all(
    records.map(async ({ session }) => (await eraser.count(session)).prompts),
  );
  // A full ring has dropped prompts, whose text is still in the files.
  if (prompts.some((count) => count >= RING_SIZE)) await eraser.rewrite('prompts');
  const turns = new Semaphore(AT_ONCE);
  const erasing = await Promise.allSettled(records.map((each) => turns.run(() => erase(ports, lease, each))));
  const erased = records.filter((_, at) => erasing[at]?.status === 'fulfilled');
  await eraser.rewrite('buckets');
  await lease.confirm();
  for (const { session, record } of erased)
    await lifecycle.forgot(
      session,
      clock(),
      (there) => there?.status === 'forgetting' && there.at === record.at,
    );
  // Its records contained the names until now.
  await eraser.rewrite('lifecycle');
  logger.info({ sessions: erased.length }, 'sessions forgotten');
  throwFirst(erasing);
}

/** Throws the error of the first task that failed, once all have ended. */
export function throwFirst(ended: readonly PromiseSettledResult<unknown>[]): void {
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

interface Recorded {
  readonly session: Token;
  readonly record: Forgotten;
}

/** Waits until every process has noticed all records. */
async function settled({ clock, pause }: ForgetPorts, records: readonly Recorded[]): Promise<void> {
  const last = Math.max(...records.map(({ record }) => Date.parse(record.at)));
  const ms = last + SETTLED_MS - Date.parse(clock());
  if (ms > 0) await pause(ms);
}

async function erase(
  { lifecycle, eraser, pause, index, ...ports }: ForgetPorts,
  lease: HeldLease,
  { session, record }: Recorded,
): Promise<void> {
  const { at, with_learnings: withLearnings = false } = record;
  const until = new Date(Date.parse(at) + SETTLED_MS).toISOString();
  const marks = await eraser.marks(session, until);
  await lease.confirm();
  const isOurs = await lifecycle.forgetting(session, (there) =>
    there?.status === 'forgetting' && there.at === at ? { ...fieldsOf(there), ...marks } : undefined,
  );
  // A repetition finds less, and the numbers of the record never decrease.
  const recorded = lifecycle.forgotten(session);
  if (!isOurs || recorded === undefined) return;
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    await lease.confirm();
    // Through its own port, which notifies lists.
    await index.remove(session);
    const stored = await eraser.erase(session, recorded);
    const learnings = await forgetInLearnings({ ...ports, eraser }, session, withLearnings);
    // Writes in progress during the first pass may have landed behind it.
    if (pass > 1 && isNothing({ ...stored, learnings })) return;
    if (pass === 1) await pause(SETTLED_MS / 4);
  }
  throw new ThroughlineError('conflict', `session ${session} still receives data: it is erased again soon`);
}

function fieldsOf({ v: _, status: __, session: ___, ...fields }: Forgotten): ForgottenAt {
  return fields;
}

function isNothing(counts: StoredCounts): boolean {
  return Object.values(counts).every((count) => count === 0);
}

/**
 * Removes sessions from learnings. A project's log contains its sessions' words, so a checkpoint of the rest is appended and
 * all earlier events are erased.
 */
interface LearningsPorts {
  readonly learnings: LearningLog;
  readonly projects: Pick<ProjectReader, 'load'>;
  readonly command: ProjectCommander;
  readonly eraser: Pick<SessionEraser, 'eraseLearnings'>;
}

/** Counts what forgetting a session would change in the learnings of all projects. */
async function changedLearnings(
  ports: Pick<LearningsPorts, 'learnings' | 'projects'>,
  session: Token,
  withLearnings: boolean,
): Promise<number> {
  let sum = 0;
  for (const project of await ports.learnings.projects()) {
    const { state } = (await ports.projects.load(project)).folded;
    sum += withoutSession(state, session, { withLearnings }).changed;
  }
  return sum;
}

/** Removes a session from all projects, and returns what that has changed. A repetition removes what was written late. */
async function forgetInLearnings(
  ports: LearningsPorts,
  session: Token,
  withLearnings: boolean,
): Promise<number> {
  let sum = 0;
  for (const project of await ports.learnings.projects()) {
    if (!(await isNamed(ports, project, session, withLearnings))) {
      // A snapshot of an earlier state may have been written since.
      await ports.eraser.eraseLearnings(project, 0);
      continue;
    }
    let changed = 0;
    const { reply } = await ports.command(project, 'forget', (state) => {
      const without = withoutSession(state, session, { withLearnings });
      changed = without.changed;
      return {
        kind: 'append',
        event: { type: 'checkpoint', data: learningsCheckpoint(without.state) },
        reply: ({ lastEvent }) => ({ checkpoint: lastEvent }),
      };
    });
    const { checkpoint } = reply as { readonly checkpoint: number };
    await ports.eraser.eraseLearnings(project, checkpoint);
    sum += changed;
  }
  return sum;
}

/** Returns true if the state or an event of a project mentions a session; the state alone may have compacted it away. */
async function isNamed(
  { learnings, projects }: LearningsPorts,
  project: Token,
  session: Token,
  withLearnings: boolean,
): Promise<boolean> {
  const { state } = (await projects.load(project)).folded;
  if (withoutSession(state, session, { withLearnings }).changed > 0) return true;
  const { events } = await learnings.read(project, { after: 0 });
  return events.some(({ event }) => names(event, session));
}

function names({ type, data }: LearningEvent, session: Token): boolean {
  if (type === 'observed') return data.session === session;
  if (type !== 'proposed') return false;
  return data.source.session === session || data.evidence.some((each) => each.session === session);
}

/**
 * Answers `session-forget`, which only records it: the keeper erases, and a dry run tells if it still does. Repeating the request
 * itself could erase what a new session of the name has received since.
 *
 * @param isKeeperRunning returns true if a keeper answers
 */
export function createForgetTool(
  ports: Omit<ForgetPorts, 'index' | 'pause' | 'logger'>,
  isKeeperRunning: () => Promise<boolean>,
): Handler<'tool.session-forget'> {
  const { lifecycle, eraser } = ports;
  return async ({ session, confirm, dryRun, withLearnings }) => {
    if (!dryRun && confirm !== session) throw unconfirmed(session, confirm);
    const learnings = await changedLearnings(ports, session, withLearnings);
    const found = { ...(await eraser.count(session)), learnings };
    const record = lifecycle.forgotten(session);
    const wasForgotten = record?.status === 'forgotten' && isNothing(found);
    if (dryRun || wasForgotten) {
      const state = record?.status === 'forgetting' ? 'running' : dryRun ? 'counted' : 'done';
      return { session, state, found, ...(wasForgotten && { forgotten: true as const }) };
    }
    // An interrupted import may consist of its record alone.
    if (isNothing(found) && (record ?? lifecycle.archived(session)) === undefined)
      throw new ThroughlineError(
        'not_found',
        `nothing is stored of session ${session}: "throughline session ls" lists what there is`,
        { details: { session } },
      );
    await eraser.check();
    if (!(await isKeeperRunning()))
      throw new ThroughlineError(
        'unavailable',
        'no keeper runs, which erases sessions: start one with "throughline admin serve --only keeper"',
      );
    await beginForgetting(ports, session, withLearnings);
    return { session, state: 'running', found };
  };
}

function unconfirmed(session: Token, confirm: string | undefined): ThroughlineError {
  const given = confirm === undefined ? 'is missing' : `is ${JSON.stringify(confirm)}`;
  return new ThroughlineError(
    'schema_invalid',
    `confirm: ${given}: erasing cannot be undone, so give the name of the session once more: ${JSON.stringify(session)}`,
    { details: { fields: ['confirm'] } },
  );
}
