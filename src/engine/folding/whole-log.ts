import { EVENT_VERSION } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { SessionEvent, StoredEvent } from '../../contracts/session-events.js';
import { checkpointOf } from '../../memory/session/checkpoint.js';
import { evolve } from '../../memory/session/evolve-session.js';
import { decodeSnapshot, encodeSnapshot } from '../../memory/session/session-snapshot.js';
import { emptyState, type SessionLimits, type SessionState } from '../../memory/session/session-state.js';
import { stateToJson } from '../../memory/session/session-state-json.js';
import type { Logger } from '../ports/logger.js';
import type { ReadRange, ReadResult, SessionLog } from '../ports/session-log.js';
import type { ReplacingSnapshotStore } from '../ports/snapshot-store.js';
import { eventsOf } from './log-copy.js';

/**
 * A log to copy or export whole. Where its first events are gone, so that a snapshot alone knows them, a checkpoint of what
 * that knows takes their place. A log that is whole counts, whatever a snapshot says.
 */
interface WholeLogPorts {
  readonly log: Pick<SessionLog, 'read'>;
  readonly snapshots: Pick<ReplacingSnapshotStore, 'load'>;
  readonly logger: Logger;
}

/** The log of a session, with what its snapshot knows where its first events are gone. Throws as the ports do. */
export async function wholeLog(ports: WholeLogPorts, session: Token): Promise<Pick<SessionLog, 'read'>> {
  const kept = await lostBeginning(ports, session);
  return kept === undefined ? ports.log : carriedLog(ports.log, kept);
}

/** The state that only the snapshot of a session knows, since the first events of its log are gone; else `undefined`. */
export async function lostBeginning(
  { log, snapshots, logger }: WholeLogPorts,
  session: Token,
): Promise<SessionState | undefined> {
  const [first] = (await log.read(session, { after: 0, limit: 1 })).events;
  if (first?.sequence === 1 || first?.event.type === 'session.checkpoint') return undefined;
  const kept = await keptState({ snapshots }, session);
  // Of a session without an event a snapshot holds nothing.
  if (kept === undefined || kept.lastEvent === 0) return undefined;
  // In a stream that sessions share, no sequence tells whether a log is whole: what it comes to does.
  const { state } = await foldedLog(log, session, kept.limits, kept.sequence);
  if (textOf(state, kept.sequence) === textOf(kept, kept.sequence)) return undefined;
  if (first === undefined || knowsMore(kept, state)) return kept;
  logger.warn(
    { session, sequence: kept.sequence },
    'the snapshot of a session differs from its log: the log counts',
  );
  return undefined;
}

/** The state that the newest snapshot of a session holds, if that can be read. */
export async function keptState(
  { snapshots }: Pick<WholeLogPorts, 'snapshots'>,
  session: Token,
): Promise<SessionState | undefined> {
  const kept = await snapshots.load(session);
  const decoded = kept && decodeSnapshot(session, kept.text);
  return decoded?.ok ? decoded.state : undefined;
}

/** The state that a log comes to from its first event on, up to a sequence. */
export async function foldedLog(
  log: Pick<SessionLog, 'read'>,
  session: Token,
  limits?: SessionLimits,
  through = Number.MAX_SAFE_INTEGER,
): Promise<{ readonly state: SessionState; readonly first: number }> {
  const state = emptyState(session, limits);
  let first = 0;
  for await (const stored of eventsOf(log, session)) {
    if (stored.sequence > through) break;
    if (first === 0) first = stored.sequence;
    evolve(state, stored);
  }
  return { state, first };
}

function textOf(state: SessionState, sequence: number): string {
  return encodeSnapshot({ ...state, sequence }, '');
}

/** Whether a state holds more than the log came to of what only ever grows: then events of the log are gone. */
function knowsMore(kept: SessionState, replayed: SessionState): boolean {
  const log = grown(replayed);
  return grown(kept).some((count, index) => count > (log[index] ?? 0));
}

function grown(state: SessionState): number[] {
  const { counts, last, iterations } = stateToJson(state);
  return [...Object.values(counts), last.task, last.note, last.message, iterations.length];
}

/**
 * A log whose first events are gone, as it is copied: in place of all that a snapshot knows it begins with a checkpoint
 * of that state, at the sequence of the snapshot.
 */
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

/** Where a state stands that a log is carried with. */
type CarriedPlace = Pick<SessionState, 'sequence' | 'lastEvent' | 'lastCommand'>;

/** What counted on the state counts on its checkpoint, which is a command: what it stands for is all at its sequence. */
export function behindCarried(
  stored: StoredEvent,
  { sequence, lastEvent, lastCommand }: CarriedPlace,
): StoredEvent {
  const { after, decidedOn } = stored;
  const at = (named: number, least: number) => (named < sequence && named >= least ? sequence : named);
  return {
    ...stored,
    ...(after !== undefined && { after: at(after, lastEvent) }),
    ...(decidedOn !== undefined && { decidedOn: at(decidedOn, lastCommand) }),
  };
}
