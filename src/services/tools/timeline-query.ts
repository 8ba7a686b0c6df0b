import { z } from 'zod';
import { cursorOf, readCursor } from '../../contracts/checked.js';
import type { Token } from '../../contracts/names.js';
import type { ToolArguments } from '../../contracts/requests.js';
import {
  TIMELINE_KINDS,
  type TimelineEntry,
  type TimelineKind,
  type TimelineListed,
} from '../../contracts/result-requests.js';
import {
  COMMAND_PATHS,
  OVERWRITTEN_PATH,
  originalOf,
  RESULT_PATHS,
  type StoredEvent,
} from '../../contracts/session-events.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import { promptEntry, timelineEntry } from '../../memory/session/timeline-entry.js';
import type { ToolPorts } from '../common/service-context.js';
import type { Values } from '../common/service-shell.js';

/** Answers `timeline-list`: events and prompts, newest first, in pages; a prompt precedes the newest event it reflects. */
type TimelinePorts = Pick<ToolPorts, 'prompts'> & { readonly log: Pick<ToolPorts['log'], 'read' | 'newest'> };

/** Maximum number of events read per request: a page with few matches is short and has a cursor. */
const MOST_READ = 2000;
/** Minimum cost of a read, in events. */
const LEAST_COUNTED = 32;

/** Places of the events of each kind, as filters. */
const SOURCES: Readonly<Record<Exclude<TimelineKind, 'prompt'>, readonly string[]>> = {
  result: [RESULT_PATHS],
  rejected: [RESULT_PATHS],
  command: [COMMAND_PATHS],
  trace: ['trace.appended'],
};
const EVERYTHING = '>';

/** Position in the timeline: a sequence, or behind a prompt that reflects it. */
interface Place {
  readonly sequence: number;
  readonly prompt?: string | undefined;
}

export function createTimelineService({ log, prompts }: TimelinePorts) {
  return async ({ session, ...query }: Values<'tool.timeline-list'>): Promise<TimelineListed> => {
    const { limit, after } = query;
    const kinds = new Set(query.kinds ?? TIMELINE_KINDS);
    const given = query.cursor === undefined ? undefined : placeIn(query.cursor);
    const [sequence, copies, recent] = await Promise.all([
      log.newest(session),
      log.read(session, { at: OVERWRITTEN_PATH, after: 0 }),
      kinds.has('prompt') ? prompts.all(session) : [],
    ]);
    // The cursor is untrusted: limit it to existing sequences.
    const most = Math.min(query.upTo ?? sequence, sequence);
    const from =
      given === undefined ? { sequence: most } : { ...given, sequence: Math.min(given.sequence, most) };
    const compiled = promptsFrom(recent.map(promptEntry), from, after).filter((entry) => fits(entry, query));
    const found: TimelineEntry[] = [];
    const isFull = () => found.length > limit;
    const addPrompts = (downTo: number) => {
      while (!isFull() && (compiled[0]?.sequence ?? -1) >= downTo) found.push(...compiled.splice(0, 1));
    };
    let read = 0;
    const sources = sourcesOf(kinds);
    const overwritten = copies.events.map((copy) => ({ ...copy, sequence: originalOf(copy.event) ?? 0 }));
    const range = { from: from.sequence, above: after ?? 0, sources, overwritten, wanted: limit + 1 };
    for await (const { events, downTo } of sources.length === 0 ? [] : eventsBackwards(log, session, range)) {
      for (const entry of events.map(timelineEntry)) {
        if (!kinds.has(entry.kind) || !fits(entry, query)) continue;
        addPrompts(entry.sequence);
        if (isFull()) break;
        found.push(entry);
      }
      addPrompts(downTo);
      if (isFull()) return page(found, limit, sequence);
      read += Math.max(events.length, LEAST_COUNTED);
      if (read >= MOST_READ && downTo > range.above + 1)
        return { entries: found, next: cursorTo({ sequence: downTo - 1 }), sequence };
    }
    addPrompts(0);
    return isFull() ? page(found, limit, sequence) : { entries: found, sequence };
  };
}

function page(found: readonly TimelineEntry[], limit: number, sequence: number): TimelineListed {
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  const isPrompt = last?.prompt !== undefined;
  const place = last && { sequence: last.sequence - (isPrompt ? 0 : 1), prompt: last.prompt?.id };
  return { entries, ...(place && { next: cursorTo(place) }), sequence };
}

function cursorTo({ sequence, prompt = '' }: Place): string {
  return cursorOf('timeline', sequence, prompt);
}

function placeIn(cursor: string): Place {
  const values = [z.literal('timeline'), z.int(), z.string()] as const;
  const [, sequence, prompt] = readCursor(cursor, values);
  return { sequence, ...(prompt !== '' && { prompt }) };
}

function sourcesOf(kinds: ReadonlySet<TimelineKind>): string[] {
  const wanted = Object.entries(SOURCES).filter(([kind]) => kinds.has(kind as keyof typeof SOURCES));
  return wanted.length === Object.keys(SOURCES).length
    ? [EVERYTHING]
    : [...new Set(wanted.flatMap(([, sources]) => sources))];
}

/** Returns the prompts from a position, by sequence; equal ones stay in order. */
function promptsFrom(
  recent: readonly TimelineEntry[],
  from: Place,
  after: number | undefined,
): TimelineEntry[] {
  const sorted = recent
    .filter(({ sequence }) => sequence <= from.sequence && sequence >= (after ?? 0))
    .sort((one, other) => other.sequence - one.sequence);
  if (from.prompt === undefined) return sorted;
  const at = sorted.findIndex(({ prompt }) => prompt?.id === from.prompt);
  // If the prompt was evicted, so were all older ones.
  return at < 0 ? sorted.filter(({ sequence }) => sequence < from.sequence) : sorted.slice(at + 1);
}

type Filter = Pick<ToolArguments<'timeline-list'>, 'task' | 'failed' | 'since' | 'until'>;

/** By the time of each entry: results of the past are stored out of order, so that no sequence bounds a time. */
function fits({ task, failed, at }: TimelineEntry, filter: Filter): boolean {
  const { since = at, until = at } = filter;
  const isInTime = Date.parse(since) <= Date.parse(at) && Date.parse(at) <= Date.parse(until);
  return (
    isInTime && (filter.task === undefined || task === filter.task) && (!filter.failed || failed === true)
  );
}

interface Backwards {
  /** Inclusive start. */
  readonly from: number;
  /** Exclusive end; 0 for all. */
  readonly above: number;
  readonly sources: readonly string[];
  /** Copies with the sequences of their originals. */
  readonly overwritten: readonly StoredEvent[];
  readonly wanted: number;
}

/** Maximum number of events per read: decoding blocks other requests. */
const MOST_AT_ONCE = 400;
const NARROWEST = 32;
/** Maximum width of a stretch; reads by type skip other events on the server. */
const WIDEST = { everything: 4096, some: 65_536 };

/** Yields all events from `downTo` to the previous stretch, newest first. */
async function* eventsBackwards(
  log: Pick<SessionLog, 'read'>,
  session: Token,
  { from, above, sources, overwritten, wanted }: Backwards,
): AsyncGenerator<{ readonly events: readonly StoredEvent[]; readonly downTo: number }> {
  const widest = sources.includes(EVERYTHING) ? WIDEST.everything : WIDEST.some;
  let width = Math.max(NARROWEST, Math.min(wanted, MOST_AT_ONCE));
  for (let high = from; high > above; ) {
    const low = Math.max(above, high - width);
    const reads = await Promise.all(
      sources.map((at) => log.read(session, { at, after: low, through: high })),
    );
    const events = [
      ...reads.flatMap((read) => read.events.filter(({ event }) => originalOf(event) === undefined)),
      ...overwritten.filter(({ sequence }) => low < sequence && sequence <= high),
    ];
    events.sort((one, other) => other.sequence - one.sequence);
    yield { events, downTo: low + 1 };
    high = low;
    const room = Math.floor((width * MOST_AT_ONCE) / Math.max(1, events.length));
    width = Math.max(NARROWEST, Math.min(width * 4, room, widest));
  }
}
