import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { copyLog, isSameSession, type LogCopyPorts } from '../../folding/log-copy.js';
import { foldedLog, keptState, wholeLog } from '../../folding/whole-log.js';
import type { Clock } from '../../ports/clock.js';
import { type Logger, silentLogger } from '../../ports/logger.js';
import type { SessionActivity } from '../../ports/session-activity.js';
import type { SessionLog } from '../../ports/session-log.js';
import type { ReplacingSnapshotStore } from '../../ports/snapshot-store.js';
import { encodeSnapshot } from '../../session/session-snapshot.js';
import { emptyState, type SessionState } from '../../session/session-state.js';

/** A log that is read to its end: a replica that lags behind would leave out what came last. */
type Whole = Pick<SessionLog, 'read'> & Pick<SessionActivity, 'newest'>;

/** One session on its way from one place to another. Nobody appends to its log in either place by the end. */
export interface SessionMove {
  readonly session: Token;
  /** Its name in the new place. Default: the same. */
  readonly as?: Token;
  readonly from: Whole;
  readonly to: Whole & Pick<SessionLog, 'append'>;
  /** Drops what is in the new place. */
  readonly clear: () => Promise<void>;
}

export interface MoveSnapshots {
  readonly snapshots: ReplacingSnapshotStore;
  readonly clock: Clock;
  /** Told of snapshots that do not count. Default: nobody is. */
  readonly logger?: Logger;
}

/** Copies what the new place lacks; what cannot be gone on with there is dropped first. */
export async function copyMissing(move: SessionMove): Promise<void> {
  await awaitLeaders(move);
  await copyOrClear(move);
}

async function copyOrClear({
  session,
  as,
  from,
  to,
  clear,
}: Pick<SessionMove, 'session' | 'as' | 'clear'> & LogCopyPorts) {
  if ((await copyLog({ from, to }, session, as)).outcome === 'copied') return;
  await clear();
  if ((await copyLog({ from, to }, session, as)).outcome === 'copied') return;
  throw new ThroughlineError('conflict', `session ${session} was written to where it is moved to: try again`);
}

/**
 * Brings the rest of a session that nobody appends to any more, makes sure that it is the same in both places, and gives
 * it a snapshot of its new sequences.
 *
 * @throws ThroughlineError `internal` where the two differ: then the old place counts
 */
export async function arrive(move: SessionMove, ports: MoveSnapshots): Promise<void> {
  const { session, to } = move;
  await awaitLeaders(move);
  const from = await sourceOf(move, ports);
  await copyOrClear({ ...move, from });
  if (!(await isSameSession({ from, to }, session)))
    throw new ThroughlineError(
      'internal',
      `session ${session} is not the same in its copy: it was not moved`,
    );
  await replaceSnapshot(session, to, ports);
}

/** Has each read of both logs show what the leaders of their streams hold by now. */
async function awaitLeaders({ session, as = session, from, to }: SessionMove): Promise<void> {
  await Promise.all([from.newest(session), to.newest(as)]);
}

/**
 * A snapshot of the old sequences must never be gone on with in the new place, and none can come again: each session gets
 * one of its new sequences before anyone reads it there. Without one to stand in for, it holds nothing, up to the first
 * event.
 */
async function replaceSnapshot(session: Token, to: SessionMove['to'], { snapshots, clock }: MoveSnapshots) {
  const kept = await snapshots.load(session);
  const limits = (await keptState({ snapshots }, session))?.limits;
  const { state, first } = await foldedLog(to, session, limits);
  const put = (of: SessionState) =>
    snapshots.replace(session, { sequence: of.sequence, text: encodeSnapshot(of, clock()) });
  if (kept !== undefined && (await put(state)) === 'saved') return;
  if (first > 1) await put({ ...emptyState(session, limits), sequence: first - 1 });
}

/** What is copied of a session: where the new place holds all of it already, nothing but that. */
async function sourceOf(
  { session, from, to }: SessionMove,
  ports: MoveSnapshots,
): Promise<LogCopyPorts['from']> {
  const kept = await keptState(ports, session);
  const [first] = (await to.read(session, { after: 0, limit: 1 })).events;
  // All sequences of the new place are above any of the old one. Where it is one of the new ones already, the copy was
  // whole, and all that is missing is the mark.
  if (kept !== undefined && first !== undefined && kept.sequence >= first.sequence - 1) {
    const { event } = first;
    return event.type === 'session.checkpoint' && event.data.reason === 'truncated' ? to : from;
  }
  return wholeLog({ logger: silentLogger, ...ports, log: from }, session);
}
