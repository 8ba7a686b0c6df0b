import type { Token } from '../../contracts/names.js';
import type { SessionEvent, StoredEvent } from '../../contracts/session-events.js';
import type { ReadRange } from '../../ports/event-log.js';
import type { SessionLog } from '../../ports/session-log.js';

/**
 * Reads a session's log from its end, a stretch at a time: a log is read forwards only, and its sequences may have gaps. A
 * stretch grows while little is found in it, so that the newest events cost as much in a log of any length.
 */

/** What is read: everything, commands, or results and the like by their type. */
export type Source = 'everything' | 'commands' | SessionEvent['type'];

export interface Backwards {
  /** Only events at this sequence or before. */
  readonly from: number;
  /** Only events after this sequence; 0 for all. */
  readonly above: number;
  /** Each event is in one of them at most. */
  readonly sources: readonly Source[];
  /** About so many events are wanted. */
  readonly wanted: number;
}

/** One stretch: all events from `downTo` to the stretch before, the newest first. */
export interface EventStretch {
  readonly events: readonly StoredEvent[];
  readonly downTo: number;
}

/** Events that one read should bring at most: what is read is checked at once, and others wait meanwhile. */
const MOST_AT_ONCE = 400;
const NARROWEST = 32;
/** Sequences of a stretch; where only some types are read, the server passes the others over. */
const WIDEST = { everything: 4096, some: 65_536 };

export async function* eventsBackwards(
  log: Pick<SessionLog, 'read'>,
  session: Token,
  { from, above, sources, wanted }: Backwards,
): AsyncGenerator<EventStretch> {
  const widest = sources.includes('everything') ? WIDEST.everything : WIDEST.some;
  let width = Math.max(NARROWEST, Math.min(wanted, MOST_AT_ONCE));
  for (let high = from; high > above; ) {
    const low = Math.max(above, high - width);
    const reads = await Promise.all(
      sources.map((source) => log.read(session, { ...rangeOf(source), after: low, through: high })),
    );
    const events = reads.flatMap((read) => read.events);
    events.sort((one, other) => other.sequence - one.sequence);
    yield { events, downTo: low + 1 };
    high = low;
    const room = Math.floor((width * MOST_AT_ONCE) / Math.max(1, events.length));
    width = Math.max(NARROWEST, Math.min(width * 4, room, widest));
  }
}

function rangeOf(source: Source): Pick<ReadRange, 'type' | 'commands'> {
  if (source === 'everything') return {};
  return source === 'commands' ? { commands: true } : { type: source };
}
