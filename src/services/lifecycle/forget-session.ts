import type { Forgotten } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/replies/lifecycle-replies.js';
import type { Clock, Logger } from '../../engine/ports/clients.js';
import type { HeldLease } from '../../engine/ports/lease-store.js';
import type { SessionIndex } from '../../engine/ports/session-index.js';
import {
  type ForgottenAt,
  type Marks,
  NOTHING_ERASED,
  type RewrittenKind,
  type SessionEraser,
  type SessionLifecycle,
} from '../../engine/ports/session-lifecycle.js';
import { RING_SIZE } from '../../engine/ports/telemetry-store.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import type { JobKind } from '../../engine/runtime/jobs.js';
import {
  forgetInLearnings,
  forgetProjectLearnings,
  type LearningsPorts,
  learningsOf,
  NO_LEARNINGS,
} from './forget-learnings.js';

/**
 * Forgets sessions: erases everything from streams, buckets and the store's files, so that a new session of the name starts
 * empty.
 *
 * 1. Record it with a boundary, the newest result at that time. All processes notice: they hold back its results and refuse
 *    requests about it.
 * 2. After all processes must have noticed, move the boundary up to the newest result that became an event before that. Results
 *    up to the boundary never become events again.
 * 3. Erase everything stored of it, until a pass finds nothing.
 * 4. Rewrite buckets, whose files hold replaced values.
 * 5. Record it without its name.
 *
 * The caller does the first step. The others are one job for all recorded sessions: a second eraser could erase the new session
 * of the name that starts after the first has finished. The record names the lease under which a session is erased (its
 * fence): a process that has lost the lease can record nothing more.
 */
export interface ForgetPorts extends LearningsPorts {
  readonly lifecycle: SessionLifecycle;
  readonly eraser: LearningsPorts['eraser'] & SessionEraser;
  readonly index: Pick<SessionIndex, 'remove'>;
  readonly clock: Clock;
  readonly pause: (ms: number) => Promise<void>;
  readonly logger: Logger;
}

interface ForgetAsked {
  readonly withLearnings?: boolean;
  readonly project?: Token | undefined;
  /** Forget it only if this is still its newest event and no result was stored since. Default: always. */
  readonly unlessMoved?: ForgottenAt['unless_moved'] | undefined;
}

/** By then every process has seen a record, and has stored what it had started before. */
export const SETTLED_MS = 2000;
/** Passes before new finds are an error; usually the second finds nothing. */
const MAX_PASSES = 20;
const AT_ONCE = 8;

export const NOTHING: StoredCounts = { ...NOTHING_ERASED, ...NO_LEARNINGS };

export async function storedOf(
  ports: Pick<ForgetPorts, 'eraser' | 'learnings' | 'projects'>,
  session: Token,
  withLearnings: boolean,
): Promise<StoredCounts> {
  return sum(await countedOf(ports, session), await learningsOf(ports, session, withLearnings));
}

/** Counts like `storedOf`, without learnings. */
export async function countedOf(
  { eraser }: Pick<ForgetPorts, 'eraser'>,
  session: Token,
): Promise<StoredCounts> {
  return sum(NOTHING, await eraser.count(session));
}

/** Records that a session is to be forgotten. A repetition extends the request and never moves the boundary. */
export async function beginForgetting(
  {
    lifecycle,
    eraser,
    clock,
  }: Pick<ForgetPorts, 'lifecycle' | 'clock'> & { readonly eraser: Pick<SessionEraser, 'marks'> },
  session: Token,
  { withLearnings = false, project, unlessMoved }: ForgetAsked,
): Promise<void> {
  // Always, because this process' view of the record may be stale.
  const begun = await eraser.marks(session);
  const asked = { ...(withLearnings && { with_learnings: true }), ...(project && { project }) };
  await lifecycle.forgetting(session, (there) => {
    if (there?.status !== 'forgetting')
      return {
        ...{ at: clock(), dispatches: 0, sequence: 0, begun, ...asked },
        ...(unlessMoved && { unless_moved: unlessMoved }),
      };
    const { unless_moved: unless, ...record } = fieldsOf(there);
    // An unconditional request overrides a conditional one.
    const mayBeSpared = unless !== undefined && unlessMoved !== undefined;
    return { ...record, ...asked, ...(mayBeSpared && { unless_moved: unless }) };
  });
}

/** The only job of its kind: it erases all sessions recorded as being forgotten. */
export const FORGET_JOB = '';

/** @param onErased reports progress */
export function forgetKind(
  ports: ForgetPorts,
  onErased: (session: Token, erased: StoredCounts) => void = () => {},
): JobKind {
  const { lifecycle } = ports;
  return {
    name: 'forget',
    failed: 'sessions are not forgotten yet: it is tried again soon',
    unfinished: () => (lifecycle.unfinished().length === 0 ? [] : [FORGET_JOB]),
    async run(_, lease) {
      const sessions = lifecycle.unfinished();
      const projects = new Set(sessions.flatMap((session) => lifecycle.forgotten(session)?.project ?? []));
      await ports.eraser.check();
      const rewrite = new Set<RewrittenKind>(['learnings']);
      const names: Token[] = [];
      const turns = new Semaphore(AT_ONCE);
      const erasing = sessions.map((session) =>
        turns.run(async () => {
          const told = (erased: StoredCounts) => onErased(session, erased);
          const kinds = await erase(ports, session, lease, told);
          if (kinds === undefined) return;
          names.push(session);
          for (const kind of kinds) rewrite.add(kind);
        }),
      );
      const failed = (await Promise.allSettled(erasing)).find(({ status }) => status === 'rejected');
      // With the last of its sessions, to include learnings made meanwhile.
      if (failed === undefined) for (const project of projects) await forgetProjectLearnings(ports, project);
      if (names.length > 0) await finish(ports, names, rewrite, lease);
      if (failed?.status === 'rejected') throw failed.reason;
    },
  };
}

/** Erases a session, up to step 3. Returns the buckets that may still contain it; nothing if it is done or cancelled. */
async function erase(
  { lifecycle, eraser, pause, index, clock, ...ports }: ForgetPorts,
  session: Token,
  lease: HeldLease,
  onErased: (erased: StoredCounts) => void,
): Promise<ReadonlySet<RewrittenKind> | undefined> {
  /** Extends the record, under the lease. Returns it, unless the session is forgotten by now. */
  const recorded = async (
    more: Partial<Marks & Pick<Forgotten, 'settled'>> = {},
  ): Promise<Forgotten | undefined> => {
    await lease.confirm();
    const isLeft = await lifecycle.forgetting(session, (there) => {
      if (there?.status !== 'forgetting') return undefined;
      const { unless_moved, ...record } = fieldsOf(there);
      // A settled session cannot be cancelled any more.
      const unless = more.settled !== true && unless_moved !== undefined && { unless_moved };
      return { ...record, ...unless, ...more, by: lease.holder };
    });
    return isLeft ? lifecycle.forgotten(session) : undefined;
  };
  const first = await recorded();
  if (first === undefined) return undefined;
  const { with_learnings: withLearnings = false, settled: isResumed = false, begun } = first;
  if (!isResumed) await pause(SETTLED_MS);
  const { dispatches: newest, sequence } = await eraser.marks(session);
  const unless = lifecycle.forgotten(session)?.unless_moved;
  if (unless !== undefined) {
    const moved = await eraser.lastMoved(session);
    const hasMoved = moved.sequence !== unless.sequence || (moved.dispatchedAt ?? '') >= unless.since;
    if (hasMoved && (await lifecycle.spare(session, unless.since))) return undefined;
  }
  // Results behind the boundary were held back, so none of them is an event yet.
  const dispatches =
    begun === undefined
      ? newest
      : Math.max(begun.dispatches, await eraser.newestNamed(session, begun.sequence));
  const settled = await recorded({ sequence, settled: true, ...(!isResumed && { dispatches }) });
  if (settled === undefined) return undefined;
  const rewrite = new Set<RewrittenKind>(['snapshots', 'telemetry', 'index', 'lifecycle']);
  // It is unknown what an interrupted run has erased but not rewritten.
  if (isResumed) for (const kind of ['prompts', 'learnings'] as const) rewrite.add(kind);
  const touched = new Set<Token>(isResumed ? await ports.learnings.projects() : []);
  let erased: StoredCounts = NOTHING;
  const tell = (more: Partial<StoredCounts>) => {
    erased = sum(erased, more);
    onErased(erased);
  };
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    if (pass > 1) await lease.confirm();
    // Through its own port, which notifies lists.
    await index.remove(session);
    const stored = await eraser.erase(session, settled, (kind, messages) => tell({ [kind]: messages }));
    const learnings = await forgetInLearnings({ ...ports, eraser }, session, withLearnings, touched);
    tell(learnings);
    // Writes in progress during the first pass may have landed behind it.
    if (pass > 1 && isNothing({ ...stored, ...learnings })) break;
    if (pass === 1) await pause(SETTLED_MS / 4);
  }
  if (erased.prompts >= RING_SIZE) rewrite.add('prompts');
  if (touched.size > 0) rewrite.add('learnings');
  return rewrite;
}

/** Rewrites buckets and records the sessions as forgotten, except those that another process has taken over. */
async function finish(
  { lifecycle, eraser, clock, logger }: ForgetPorts,
  sessions: readonly Token[],
  rewrite: ReadonlySet<RewrittenKind>,
  { holder, confirm }: HeldLease,
): Promise<void> {
  await eraser.rewrite([...rewrite].filter((kind) => kind !== 'lifecycle'));
  await confirm();
  for (const session of sessions)
    await lifecycle.forgot(
      session,
      clock(),
      (there) => there?.status === 'forgetting' && there.by === holder,
    );
  // Its records contained the names until now.
  await eraser.rewrite(['lifecycle']);
  logger.info({ sessions: sessions.length }, 'sessions forgotten');
}

function fieldsOf({ v: _, status: __, session: ___, ...fields }: Forgotten): ForgottenAt {
  return fields;
}

export function isNothing(counts: Partial<StoredCounts>): boolean {
  return Object.values(counts).every((count) => count === 0);
}

export function sum(one: StoredCounts, more: Partial<StoredCounts>): StoredCounts {
  const all = Object.keys(NOTHING) as (keyof StoredCounts)[];
  return Object.fromEntries(all.map((kind) => [kind, one[kind] + (more[kind] ?? 0)])) as Record<
    keyof StoredCounts,
    number
  >;
}
