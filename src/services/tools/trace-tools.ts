import { randomUUID } from 'node:crypto';
import { ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { EventOf } from '../../contracts/session-events.js';
import type { StoredEntry } from '../../contracts/trace-entry.js';
import { archivedFault } from '../../memory/session/charter.js';
import { tracesOf } from '../../memory/session/session-state.js';
import { recordEntry } from '../../memory/traces/record-entry.js';
import { compactedReport, recentLines, summarise } from '../../memory/traces/trace-summary.js';
import { clipText, quoted } from '../../shared/text.js';
import type { ToolPorts } from '../common/service-context.js';
import type { Handlers } from '../common/service-shell.js';

const MAX_REASON = 300;

/** Maximum size of an event's entries in characters, so that it fits one message. */
const EVENT_SIZE = 400_000;
const PAGE = 200;

export function createTraceService({
  log,
  lifecycle,
  reader,
  clock,
}: Pick<ToolPorts, 'log' | 'lifecycle' | 'reader' | 'clock'>): Handlers<
  'trace.append' | 'trace.compact' | 'trace.get'
> {
  const append = async (session: Token, data: EventOf<'trace.appended'>['data']) => {
    const archived = lifecycle.archived(session);
    if (archived !== undefined) throw archivedFault(session, archived);
    const event = { v: EVENT_VERSION, type: 'trace.appended', at: clock(), data } as const;
    const appended = await log.append(session, event);
    // Without an expectation, it is always stored.
    return appended.outcome === 'appended' ? appended.sequence : 0;
  };

  /** Finds the newest entry with an id, which may be shortened as in a summary. */
  const find = async (session: Token, id: string, intentId: string | undefined): Promise<Found> => {
    let found: Found | undefined;
    for (let after = 0; ; ) {
      const { events, through } = await log.read(session, { after, at: 'trace.appended', limit: PAGE });
      for (const { sequence, event } of events) {
        if (event.type !== 'trace.appended') continue;
        const entry = event.data.entries.findLast(
          (entry) =>
            (entry.id === id || clipText(quoted(entry.id), 64) === id) &&
            (intentId === undefined || entry.intent === intentId),
        );
        if (entry !== undefined) found = { entry, at: event.at, sequence };
      }
      if (events.length === 0 || through <= after) break;
      after = through;
    }
    if (found !== undefined) return found;
    throw new ThroughlineError(
      'not_found',
      `id: no trace entry ${JSON.stringify(id)} in session ${session}; ` +
        `"throughline log ${session} --trace INTENT" shows the newest`,
    );
  };

  return {
    /** Appends entries, as one event unless they are large. Skips and counts unreadable ones; it is an error if all are. */
    async 'trace.append'({ session, entries: given }) {
      const entries: StoredEntry[] = [];
      const malformed: { index: number; message: string }[] = [];
      for (const [index, input] of given.entries()) {
        const recorded = recordEntry(input, randomUUID);
        if ('entry' in recorded) entries.push(recorded.entry);
        else malformed.push({ index, message: recorded.malformed });
      }
      // Even without readable entries: the session counts malformed ones.
      const [first = [], ...others] = inEvents(entries);
      const [unread] = malformed;
      const more = {
        ...(unread !== undefined && { malformed_because: clipText(quoted(unread.message), MAX_REASON) }),
      };
      let sequence = await append(session, { entries: first, malformed: malformed.length, ...more });
      for (const batch of others) sequence = await append(session, { entries: batch, malformed: 0 });
      if (entries.length === 0) {
        throw new ThroughlineError('schema_invalid', `entries: none can be read; ${malformed[0]?.message}`, {
          details: { malformed },
        });
      }
      return { appended: entries.length, malformed, sequence };
    },
    /** Returns an intent's summary with its figures, and the newer entries; null or empty below the threshold. */
    async 'trace.compact'({ session, intentId }) {
      const { state } = (await reader.load(session)).folded;
      const trace = tracesOf(state).intents.get(intentId);
      const summary = trace === undefined ? null : summarise(trace);
      return {
        summary: summary?.text ?? null,
        compacted: summary && compactedReport(summary),
        recent: trace === undefined ? [] : recentLines(trace),
        total: trace?.total ?? 0,
        malformed: tracesOf(state).malformed,
        withoutIntent: tracesOf(state).withoutIntent,
        sequence: state.sequence,
      };
    },
    async 'trace.get'({ session, id, intentId }) {
      const { entry, ...where } = await find(session, id, intentId);
      return { ...where, entry };
    },
  };
}

interface Found {
  readonly entry: StoredEntry;
  /** ISO 8601. */
  readonly at: string;
  readonly sequence: number;
}

function inEvents(entries: readonly StoredEntry[]): StoredEntry[][] {
  const events: StoredEntry[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const more = JSON.stringify(entry).length;
    if (size + more > EVENT_SIZE) {
      events.push([]);
      size = 0;
    }
    events.at(-1)?.push(entry);
    size += more;
  }
  return events;
}
