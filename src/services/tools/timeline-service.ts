import { z } from 'zod';
import { checkedRequest } from '../../contracts/checked.js';
import { cursorOf, readCursor } from '../../contracts/list-limits.js';
import { type Token, token } from '../../contracts/names.js';
import type { TimelineEntry, TimelineListed } from '../../contracts/replies/timeline-reply.js';
import type { SessionEvent, StoredEvent } from '../../contracts/session-events.js';
import { TIMELINE_KINDS, type TimelineKind } from '../../contracts/timeline-kinds.js';
import { TOOLS, type ToolArguments } from '../../contracts/tool-requests.js';
import type { SessionActivity } from '../../engine/ports/session-lifecycle.js';
import type { ReadRange, SessionLog } from '../../engine/ports/session-log.js';
import type { PromptTraces } from '../../engine/ports/telemetry-store.js';
import { withoutRefused } from '../../memory/session/counted-dispatches.js';
import { promptEntry, timelineEntry } from '../../memory/session/timeline-entry.js';

/**
 * Answers `timeline-list`: the events of a session and the prompts that were compiled for it, the newest first, a page at
 * a time. By sequence; a prompt stands before the newest event that it reflects.
 */
interface TimelineServiceOptions {
  readonly log: Pick<SessionLog, 'read'> & Pick<SessionActivity, 'newest'>;
  readonly prompts: PromptTraces;
}

/** Events that one request reads at most: where few of them fit, the page is short, and the next goes on. */
const MOST_READ = 2000;
/** A read counts as so many events, whatever it brings. */
const LEAST_COUNTED = 32;
/** As many prompts as are remembered of a session. */
const MOST_PROMPTS = 200;

const SOURCES: Readonly<Record<Exclude<TimelineKind, 'prompt'>, Source>> = {
  result: 'fact.recorded',
  rejected: 'dispatch.rejected',
  command: 'commands',
  trace: 'trace.appended',
};

/** Where a page begins: at this sequence, or of the prompts that reflect it behind this one. */
interface Place {
  readonly sequence: number;
  readonly prompt?: string;
}

export function createTimelineService({ log, prompts }: TimelineServiceOptions) {
  return async (request: unknown): Promise<TimelineListed> => {
    const { session: name, ...asked } = checkedRequest(TOOLS['timeline-list'].request, request);
    const session = token(name, 'session');
    const { limit, after } = asked;
    const kinds = new Set(asked.kinds ?? TIMELINE_KINDS);
    const given = asked.cursor === undefined ? undefined : placeIn(asked.cursor);
    const [sequence, recent] = await Promise.all([
      log.newest(session),
      kinds.has('prompt') ? prompts.recent(session, { limit: MOST_PROMPTS }) : [],
    ]);
    // A cursor may come from anyone: nothing is looked for where nothing can be.
    const most = Math.min(asked.upTo ?? sequence, sequence);
    const from =
      given === undefined ? { sequence: most } : { ...given, sequence: Math.min(given.sequence, most) };
    const compiled = promptsFrom(recent.map(promptEntry), from, after).filter((entry) => fits(entry, asked));
    const found: TimelineEntry[] = [];
    const isFull = () => found.length > limit;
    /** Adds the prompts that reflect this sequence or a later one. */
    const addPrompts = (downTo: number) => {
      while (!isFull() && (compiled[0]?.sequence ?? -1) >= downTo) found.push(...compiled.splice(0, 1));
    };
    let read = 0;
    const sources = sourcesOf(kinds);
    const range = { from: from.sequence, above: after ?? 0, sources, wanted: limit + 1 };
    for await (const { events, downTo } of sources.length === 0 ? [] : eventsBackwards(log, session, range)) {
      for (const entry of entriesOf(events, asked)) {
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

/** The first entries, where there is one more at least. */
function page(found: readonly TimelineEntry[], limit: number, sequence: number): TimelineListed {
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  return { entries, ...(last !== undefined && { next: cursorTo(behind(last)) }), sequence };
}

function behind({ sequence, prompt }: TimelineEntry): Place {
  return prompt === undefined ? { sequence: sequence - 1 } : { sequence, prompt: prompt.id };
}

function cursorTo({ sequence, prompt }: Place): string {
  return cursorOf('timeline', sequence, prompt ?? '');
}

function placeIn(cursor: string): Place {
  const values = [z.literal('timeline'), z.int(), z.string()] as const;
  const [, sequence, prompt] = readCursor(cursor, values);
  return { sequence, ...(prompt !== '' && { prompt }) };
}

function sourcesOf(kinds: ReadonlySet<TimelineKind>): Source[] {
  const wanted = Object.entries(SOURCES).filter(([kind]) => kinds.has(kind as keyof typeof SOURCES));
  return wanted.length === Object.keys(SOURCES).length ? ['everything'] : wanted.map(([, source]) => source);
}

/** The prompts from a place on, by the sequence that they reflect; of equal ones the newest first, as they come. */
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
  // The oldest are forgotten first: with it all went that stood behind it.
  return at < 0 ? sorted.filter(({ sequence }) => sequence < from.sequence) : sorted.slice(at + 1);
}

function entriesOf(newestFirst: readonly StoredEvent[], asked: Filter): TimelineEntry[] {
  const counting = withoutRefused(newestFirst.toReversed());
  return counting
    .toReversed()
    .map(timelineEntry)
    .filter((entry) => fits(entry, asked));
}

type Filter = Pick<ToolArguments<'timeline-list'>, 'task' | 'failed'>;

function fits({ task, failed }: TimelineEntry, asked: Filter): boolean {
  return (asked.task === undefined || task === asked.task) && (!asked.failed || failed === true);
}

/**
 * Reads a session's log from its end, a stretch at a time: a log is read forwards only, and its sequences may have gaps. A
 * stretch grows while little is found in it, so that the newest events cost as much in a log of any length.
 */

/** What is read: everything, commands, or results and the like by their type. */
export type Source = 'everything' | 'commands' | SessionEvent['type'];

interface Backwards {
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
interface EventStretch {
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
