import { EVENT_VERSION } from '../contracts/event.js';
import type { SessionEvent, StoredEvent } from '../contracts/session-events.js';
import type { ReadRange, ReadResult } from '../ports/event-log.js';
import type { SessionLog } from '../ports/session-log.js';
import { checkpointOf } from '../session/checkpoint.js';
import type { SessionState } from '../session/session-state.js';

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
export type CarriedPlace = Pick<SessionState, 'sequence' | 'lastEvent' | 'lastCommand'>;

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
