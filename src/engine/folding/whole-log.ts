import { EVENT_VERSION } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { SessionEvent, StoredEvent } from '../../contracts/session-events.js';
import { checkpointOf } from '../../memory/session/checkpoint.js';
import { evolve } from '../../memory/session/evolve-session.js';
import { decodeSnapshot, encodeSnapshot } from '../../memory/session/session-snapshot.js';
import { emptyState, type SessionLimits, type SessionState } from '../../memory/session/session-state.js';
import type { Logger } from '../ports/clients.js';
import type { ReadRange, ReadResult, ReplacingSnapshotStore, SessionLog } from '../ports/session-log.js';
import { eventsOf } from './log-copy.js';

/**
 * Reads a log whole for a copy or an export. If its first events are gone, a checkpoint of the snapshot takes their place. A
 * complete log wins over any snapshot.
 */
interface WholeLogPorts {
  readonly log: Pick<SessionLog, 'read'>;
  readonly snapshots: Pick<ReplacingSnapshotStore, 'load'>;
  readonly logger: Logger;
}

/** Returns the session's log, prefixed with a checkpoint if its first events are gone. Throws as the ports do. */
export async function wholeLog(ports: WholeLogPorts, session: Token): Promise<Pick<SessionLog, 'read'>> {
  const kept = await lostBeginning(ports, session);
  return kept === undefined ? ports.log : carriedLog(ports.log, kept);
}

/** Returns the snapshot's state if the first events of the log are gone, else `undefined`. */
export async function lostBeginning(
  { log, snapshots, logger }: WholeLogPorts,
  session: Token,
): Promise<SessionState | undefined> {
  const [first] = (await log.read(session, { after: 0, limit: 1 })).events;
  if (first?.sequence === 1 || first?.event.type === 'session.checkpoint') return undefined;
  const kept = await keptState({ snapshots }, session);
  // The snapshot of a session without events is empty.
  if (kept === undefined || kept.lastEvent === 0) return undefined;
  // In a shared stream no sequence tells whether a log is complete: compare the states.
  const state = await foldedLog(log, session, kept.limits, kept.sequence);
  if (textOf(state, kept.sequence) === textOf(kept, kept.sequence)) return undefined;
  if (first === undefined || knowsMore(kept, state)) return kept;
  logger.warn(
    { session, sequence: kept.sequence },
    'the snapshot of a session differs from its log: the log counts',
  );
  return undefined;
}

export async function keptState(
  { snapshots }: Pick<WholeLogPorts, 'snapshots'>,
  session: Token,
): Promise<SessionState | undefined> {
  const kept = await snapshots.load(session);
  const decoded = kept && decodeSnapshot(session, kept.text);
  return decoded?.ok ? decoded.state : undefined;
}

/** Folds a log from its first event through a sequence. */
export async function foldedLog(
  log: Pick<SessionLog, 'read'>,
  session: Token,
  limits?: SessionLimits,
  through = Number.MAX_SAFE_INTEGER,
): Promise<SessionState> {
  const state = emptyState(session, limits);
  for await (const stored of eventsOf(log, session)) {
    if (stored.sequence > through) break;
    evolve(state, stored);
  }
  return state;
}

function textOf(state: SessionState, sequence: number): string {
  return encodeSnapshot({ ...state, sequence }, '');
}

/** Returns true if any monotonic counter of the snapshot exceeds the log's: then events are gone. */
function knowsMore(kept: SessionState, replayed: SessionState): boolean {
  const log = grown(replayed);
  return grown(kept).some((count, index) => count > (log[index] ?? 0));
}

function grown(state: SessionState): number[] {
  const { dispatches, board, notebook, history } = state;
  const numbers = [board.lastNumber, notebook.lastNote, notebook.lastMessage, history.iterations.length];
  return [...Object.values(dispatches.current().counts), ...numbers];
}

/** Returns a log that begins with a checkpoint of `kept`, at the sequence of the snapshot. */
export function carriedLog(log: Pick<SessionLog, 'read'>, kept: SessionState): Pick<SessionLog, 'read'> {
  const { sequence } = kept;
  const checkpoint: StoredEvent = { sequence, event: checkpointEvent(kept) };
  return {
    async read(session, range: ReadRange): Promise<ReadResult<SessionEvent>> {
      const begins = range.after < sequence;
      const rest = await log.read(session, { ...range, after: Math.max(range.after, sequence) });
      const events = rest.events.map((stored) => behindCarried(stored, kept));
      return { ...rest, events: begins ? [checkpoint, ...events] : events };
    },
  };
}

function checkpointEvent(kept: SessionState): SessionEvent {
  const data = checkpointOf(kept, 'truncated');
  return { v: EVENT_VERSION, type: 'session.checkpoint', at: kept.lastEventAt, data };
}

/** Rebases an event that was decided on the replaced part: it now refers to the checkpoint, which is a command. */
export function behindCarried(
  stored: StoredEvent,
  { sequence, lastEvent, lastCommand }: Pick<SessionState, 'sequence' | 'lastEvent' | 'lastCommand'>,
): StoredEvent {
  const { after, decidedOn } = stored;
  const at = (named: number, least: number) => (named < sequence && named >= least ? sequence : named);
  return {
    ...stored,
    ...(after !== undefined && { after: at(after, lastEvent) }),
    ...(decidedOn !== undefined && { decidedOn: at(decidedOn, lastCommand) }),
  };
}
