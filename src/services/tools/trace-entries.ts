import { z } from 'zod';
import { checkedRequest } from '../../contracts/checked.js';
import { cursorOf, readCursor } from '../../contracts/list-limits.js';
import { token } from '../../contracts/names.js';
import type { TraceShown } from '../../contracts/replies/trace-reply.js';
import type { StoredEvent } from '../../contracts/session-events.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import type { RecordedEntry } from '../../contracts/trace-entry.js';
import type { SessionActivity } from '../../engine/ports/session-lifecycle.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import { entryOfDispatch } from '../../memory/traces/session-traces.js';
import { entryText } from '../../memory/traces/trace-summary.js';
import { clipText, quoted } from '../../shared/text.js';
import { eventsBackwards } from './timeline-service.js';

/** Maximum number of events read per request. */
const MOST_READ = 2000;
/** Minimum cost of a read, in events. */
const LEAST_COUNTED = 32;
const MAX_LINE = 300;

export function createTraceEntries({
  log,
}: {
  readonly log: Pick<SessionLog, 'read'> & Pick<SessionActivity, 'newest'>;
}) {
  return async (request: unknown): Promise<TraceShown> => {
    const { session: name, intent, limit, cursor } = checkedRequest(TOOLS['trace-show'].request, request);
    const session = token(name, 'session');
    const sequence = await log.newest(session);
    const from =
      cursor === undefined ? { sequence, index: Number.POSITIVE_INFINITY } : placeIn(cursor, sequence);
    const found: (TraceShown['entries'][number] & { readonly index: number })[] = [];
    const reply = (next?: string) => ({
      intent,
      entries: found.slice(0, limit).map(({ index: _, ...entry }) => entry),
      ...(next !== undefined && { next }),
      sequence,
    });
    const range = {
      ...{ from: from.sequence, above: 0, wanted: limit + 1 },
      sources: ['trace.appended', 'fact.recorded'] as const,
    };
    let read = 0;
    for await (const { events, downTo } of eventsBackwards(log, session, range)) {
      for (const stored of events) {
        const entries = entriesOf(stored, intent).filter(
          ({ index }) => stored.sequence < from.sequence || index < from.index,
        );
        found.push(...entries.reverse().map(({ entry, index }) => shown(stored, entry, index)));
        const last = found[limit - 1];
        if (found.length > limit && last !== undefined)
          return reply(cursorOf('trace', last.sequence, last.index));
      }
      read += Math.max(events.length, LEAST_COUNTED);
      if (read >= MOST_READ && downTo > 1) return reply(cursorOf('trace', downTo, 0));
    }
    return reply();
  };
}

/** The cursor is untrusted: limit it to existing sequences. */
function placeIn(cursor: string, newest: number): { sequence: number; index: number } {
  const [, sequence, index] = readCursor(cursor, [z.literal('trace'), z.int(), z.int()]);
  return { sequence: Math.min(sequence, newest), index };
}

/** Returns an event's entries of an intent, with their index in the event. */
function entriesOf({ event }: StoredEvent, intent: string): { entry: RecordedEntry; index: number }[] {
  const entries =
    event.type === 'trace.appended'
      ? event.data.entries.map(({ stored: _, ...entry }) => entry)
      : event.type === 'fact.recorded'
        ? [entryOfDispatch(event.data.dispatch)]
        : [];
  return entries.flatMap((entry, index) => (entry?.intent === intent ? [{ entry, index }] : []));
}

function shown({ sequence, event }: StoredEvent, entry: RecordedEntry, index: number) {
  return { entry, line: clipText(quoted(entryText(entry)), MAX_LINE), at: event.at, sequence, index };
}
