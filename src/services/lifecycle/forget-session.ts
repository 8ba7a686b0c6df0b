import type { Token } from '../../contracts/names.js';
import type { StoredCounts } from '../../contracts/replies/forget-reply.js';
import type { ForgottenLearnings } from '../../learnings/forget-in-learnings.js';
import type { Logger } from '../../ports/logger.js';
import { RING_SIZE } from '../../ports/prompt-traces.js';
import {
  type ErasedCounts,
  NOTHING_ERASED,
  type RewrittenKind,
  type SessionEraser,
} from '../../ports/session-eraser.js';
import type { SessionIndex } from '../../ports/session-index.js';
import type { ForgottenAt } from '../../ports/session-lifecycle.js';
import { type Claim, type Claimant, type ClaimPorts, claim, isBy } from './forget-claim.js';
import { forgetInLearnings, type LearningsPorts, learningsOf, NO_LEARNINGS } from './forget-learnings.js';

/**
 * Forgets a session: nothing of it stays in streams, buckets and the store's files, and one of its name begins at nothing.
 *
 * 1. It is recorded, and all processes notice: they hold back its results, and refuse requests about it.
 * 2. When nothing of it can be under way any longer, the boundary is recorded behind which another session of the name
 *    begins: the newest result at the first record, or a later one that had become an event before all had noticed. A
 *    result that was published up to then never becomes an event again.
 * 3. All that is stored of it is erased, and again until nothing is found.
 * 4. Buckets are written again, since their files hold replaced values.
 * 5. It is recorded without its name.
 *
 * A process that is killed leaves the record: the next request for it, or `resumeForgets`, goes on, and what it cannot know of the one before it does again.
 */
export interface ForgetPorts extends LearningsPorts, ClaimPorts {
  readonly eraser: LearningsPorts['eraser'] & SessionEraser;
  readonly index: Pick<SessionIndex, 'remove'>;
  readonly logger: Logger;
}

export interface ForgetOptions extends Claimant {
  /** Told whenever something is gone. */
  readonly onErased?: (erased: StoredCounts) => void;
}

/** Every process has noticed a record by then, and what it had begun before is stored. */
export const SETTLED_MS = 2000;
/** Every process has noticed it by then, whatever it does meanwhile. */
export const NOTICED_MS = 1000;
/** Passes after which what still comes in is an error; usually the second finds nothing. */
const MAX_PASSES = 20;

export const NOTHING: StoredCounts = { ...NOTHING_ERASED, ...NO_LEARNINGS };

/** What there is of a session. */
export async function storedOf(
  ports: Pick<ForgetPorts, 'eraser' | 'learnings' | 'projects'>,
  session: Token,
  withLearnings: boolean,
): Promise<StoredCounts> {
  return sum(await countedOf(ports, session), await learningsOf(ports, session, withLearnings));
}

/** As `storedOf`, without learnings. */
export async function countedOf(
  { eraser }: Pick<ForgetPorts, 'eraser'>,
  session: Token,
): Promise<StoredCounts> {
  return sum(NOTHING, await eraser.count(session));
}

/** What was erased of a session, and which buckets may still hold it in their files. */
interface Erased {
  readonly erased: StoredCounts;
  readonly rewrite: ReadonlySet<RewrittenKind>;
}

/** Held for `finishForgetting` until `release`. */
interface ErasedSession extends Erased {
  readonly release: () => Promise<void>;
}

/**
 * Erases a session, or goes on where another process stopped. Gives nothing where another process has done it, and where the
 * session is spared, since it has moved.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`, `conflict` where another process has taken over; then it is
 * still recorded, and may be asked for again
 */
export async function eraseSession(
  ports: ForgetPorts,
  session: Token,
  options: ForgetOptions,
): Promise<ErasedSession | undefined> {
  const held = await claim(ports, session, options);
  if (held === undefined) return undefined;
  const { release } = held;
  try {
    const done = await erase(ports, session, held, options);
    if (done === undefined) await release();
    return done && { ...done, release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function erase(
  { lifecycle, eraser, pause, index, ...ports }: ForgetPorts,
  session: Token,
  held: Claim,
  { onErased }: ForgetOptions,
): Promise<Erased | undefined> {
  const { with_learnings: withLearnings = false, settled: isResumed = false } = held.record;
  if (!isResumed) await pause(SETTLED_MS);
  const { dispatches: newest, sequence } = await eraser.marks(session);
  const { unless_moved: unless } = held.record;
  if (unless !== undefined && (await hasMoved({ eraser }, session, unless))) {
    if (await lifecycle.spare(session, unless.since)) return undefined;
  }
  const { begun } = held.record;
  // Results behind the boundary were held back until now, so none of them is an event yet.
  const dispatches =
    begun === undefined
      ? newest
      : Math.max(begun.dispatches, await eraser.newestNamed(session, begun.sequence));
  await held.hold({ sequence, settled: true, ...(!isResumed && { dispatches }) });
  const rewrite = new Set<RewrittenKind>(['snapshots', 'telemetry', 'index', 'lifecycle']);
  // What the one before has erased, and not written again, nobody knows.
  if (isResumed) for (const kind of ['prompts', 'learnings'] as const) rewrite.add(kind);
  const touched = new Set<Token>(isResumed ? await ports.learnings.projects() : []);
  let erased: StoredCounts = NOTHING;
  const tell = (more: Partial<StoredCounts>) => {
    erased = sum(erased, more);
    onErased?.(erased);
  };
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    await held.hold();
    // By its own port: lists hear of it.
    await index.remove(session);
    const stored: ErasedCounts = await eraser.erase(session, held.record, (kind, messages) =>
      tell({ [kind]: messages }),
    );
    const learnings: ForgottenLearnings = await forgetInLearnings(
      { ...ports, eraser },
      session,
      withLearnings,
      touched,
    );
    tell(learnings);
    // What was under way when the first pass began may have come behind it.
    if (pass > 1 && isNothing({ ...stored, ...learnings })) break;
    if (pass === 1) await pause(SETTLED_MS / 4);
  }
  if (erased.prompts >= RING_SIZE) rewrite.add('prompts');
  if (touched.size > 0) rewrite.add('learnings');
  return { erased, rewrite };
}

async function hasMoved(
  { eraser }: Pick<ForgetPorts, 'eraser'>,
  session: Token,
  { sequence, since }: NonNullable<ForgottenAt['unless_moved']>,
): Promise<boolean> {
  const moved = await eraser.lastMoved(session);
  return moved.sequence !== sequence || (moved.dispatchedAt ?? '') >= since;
}

/**
 * Forgets one session, from the record to the record. Gives how much was erased: nothing of one that is
 * spared. Throws as `eraseSession`.
 */
export async function forgetSession(
  ports: ForgetPorts,
  session: Token,
  options: ForgetOptions,
): Promise<StoredCounts> {
  const done = await eraseSession(ports, session, options);
  if (done === undefined) return NOTHING;
  try {
    await finishForgetting(ports, [session], done.rewrite, options.by);
  } finally {
    await done.release();
  }
  return done.erased;
}

/** Writes buckets again, and records that nothing is left of sessions, but for those that another one has taken over. */
export async function finishForgetting(
  { lifecycle, eraser, clock, logger }: ForgetPorts,
  sessions: readonly Token[],
  rewrite: ReadonlySet<RewrittenKind>,
  by: string,
): Promise<void> {
  await eraser.rewrite([...rewrite].filter((kind) => kind !== 'lifecycle'));
  for (const session of sessions) await lifecycle.forgot(session, clock(), (there) => isBy(there, by));
  // Its records named them until now.
  await eraser.rewrite(['lifecycle']);
  logger.info({ sessions: sessions.length }, 'sessions forgotten');
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
