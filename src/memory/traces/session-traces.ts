import { z } from 'zod';
import { cursorOf, readCursor } from '../../contracts/checked.js';
import { KEPT } from '../../contracts/kept-limits.js';
import { type Verdict, verdictIn } from '../../contracts/kinds.js';
import type { Output } from '../../contracts/schema-fields.js';
import type { DispatchOutcome, EventOf } from '../../contracts/session-events.js';
import { type RecordedEntry, recordedEntry } from '../../contracts/trace-entry.js';
import type { TracesListed } from '../../contracts/trace-requests.js';
import { clipText, quoted } from '../../shared/text.js';
import { addEntry, emptyTrace, type IntentTrace, intentTrace } from './intent-trace.js';
import { entryText } from './trace-summary.js';

/**
 * Traces of a session, by intent; the one that was added to last stands at the end.
 *
 * Dispatches stand in their own order, whatever the order in which their events arrive, and appended entries stand among
 * them by their time. So an appended entry waits until a later dispatch is settled, or until too many wait.
 */
export interface Traces {
  readonly intents: Map<string, IntentTrace>;
  /** Entries that named no intent: counted, and no more. */
  withoutIntent: number;
  malformed: number;
  /** Appended entries that dispatches may still come before, by their time. */
  readonly pending: PendingEntry[];
  /** Time of the newest appended entry that was added before its dispatches were all there; empty for none. */
  appendedUntil: string;
}

/** An entry, with the time of the event that brought it, ISO 8601. */
const pendingEntry = z.object({ at: z.string(), entry: recordedEntry });
type PendingEntry = Output<typeof pendingEntry>;

export const tracesJson = z.object({
  intents: z.array(intentTrace),
  without_intent: z.number(),
  malformed: z.number(),
  pending: z.array(pendingEntry),
});

/** Intents that are remembered; an agent works on one at a time. */
const MAX_INTENTS = 12;
/** Characters of all traces together: with everything else a snapshot must fit one message. */
const MAX_SIZE = 300_000;
const { traceEntry: MOST } = KEPT;
/** Appended entries that wait, and their characters together. */
const MAX_PENDING = 64;
const MAX_PENDING_SIZE = 60_000;

export function emptyTraces(): Traces {
  return { intents: new Map(), withoutIntent: 0, malformed: 0, pending: [], appendedUntil: '' };
}

export function tracesToJson({ intents, withoutIntent, malformed, pending }: Traces) {
  return { intents: [...intents.values()], without_intent: withoutIntent, malformed, pending };
}

export function tracesFromJson(json: z.output<typeof tracesJson>): Traces {
  return {
    ...emptyTraces(),
    intents: new Map(json.intents.map((trace) => [trace.intent, trace])),
    withoutIntent: json.without_intent,
    malformed: json.malformed,
    pending: [...json.pending],
  };
}

/** Has the entries of an event wait for their place among the dispatches. */
export function addAppended(traces: Traces, { at, data }: EventOf<'trace.appended'>): void {
  const { pending } = traces;
  traces.malformed += data.malformed;
  const place = pending.findLastIndex((pendingEntry) => pendingEntry.at <= at) + 1;
  // The state keeps the line of an output; the event has it for those who ask.
  pending.splice(place, 0, ...data.entries.map(({ stored: _, ...entry }) => ({ at, entry })));
  let size = pending.reduce((sum, pendingEntry) => sum + sizeOf(pendingEntry), 0);
  while (pending.length > MAX_PENDING || size > MAX_PENDING_SIZE) {
    const [oldest] = pending.splice(0, 1);
    if (oldest === undefined) return;
    size -= sizeOf(oldest);
    traceEntry(traces, oldest.entry);
  }
}

/** Adds a dispatch, with what was appended before it. Dispatches come in their order. */
export function addDispatch(
  traces: Traces,
  dispatch: { readonly at: string; readonly trace?: RecordedEntry },
): void {
  if (traces.pending.length > 0) {
    const later = traces.pending.findIndex(({ at }) => at >= dispatch.at);
    addFirst(traces, later < 0 ? traces.pending.length : later);
  }
  if (dispatch.trace !== undefined) traceEntry(traces, dispatch.trace);
}

export function addPending(traces: Traces): void {
  traces.appendedUntil = traces.pending.at(-1)?.at ?? '';
  addFirst(traces, traces.pending.length);
}

function addFirst(traces: Traces, count: number): void {
  for (const { entry } of traces.pending.splice(0, count)) traceEntry(traces, entry);
}

function traceEntry(traces: Traces, { at: _at, ...entry }: RecordedEntry): void {
  const { intent } = entry;
  if (intent === null) {
    traces.withoutIntent += 1;
    return;
  }
  const continued = [...traces.intents.keys()].at(-1) === intent;
  const trace = addEntry(traces.intents.get(intent) ?? emptyTrace(intent), entry);
  traces.intents.delete(intent);
  traces.intents.set(intent, trace);
  // A change of intent is rare; only then are all the others weighed.
  if (!continued) forgetOldest(traces.intents);
}

function sizeOf({ entry }: PendingEntry): number {
  return JSON.stringify(entry).length;
}

/** Forgets the intents that were added to least recently, beyond their number and their size together. */
function forgetOldest(intents: Map<string, IntentTrace>): void {
  let size = [...intents.values()].reduce((sum, trace) => sum + JSON.stringify(trace).length, 0);
  for (const [intent, trace] of intents) {
    if (intents.size === 1 || (intents.size <= MAX_INTENTS && size <= MAX_SIZE)) return;
    intents.delete(intent);
    size -= JSON.stringify(trace).length;
  }
}

const FAILURES: ReadonlySet<Verdict> = new Set(['blocked', 'failed', 'needs_changes']);

export function isFailure(verdict: Verdict): boolean {
  return FAILURES.has(verdict);
}

/** A dispatch that names an intent as an entry of its trace, or `undefined`. */
export function entryOfDispatch(dispatch: DispatchOutcome): RecordedEntry | undefined {
  const { outcome, sequence, role, task } = dispatch;
  if (!outcome.intent_id) return undefined;
  const verdict = verdictIn(role, outcome);
  const label = [`task ${task}`, verdict].filter((part) => part !== undefined).join(' ');
  const output = outcome.summary === undefined ? label : `${label}: ${outcome.summary}`;
  const files = outcome.files_modified?.slice(0, MOST.files).map((file) => clipText(quoted(file), MOST.text));
  return {
    id: `dispatch:${sequence}`,
    intent: clipText(outcome.intent_id, MOST.intent),
    action: 'TOOL_EXECUTION',
    status: verdict !== undefined && isFailure(verdict) ? 'FAILURE' : 'SUCCESS',
    tool: role,
    target: clipText(task, MOST.text),
    ...(files !== undefined && files.length > 0 && { files }),
    output: clipText(quoted(output), MOST.text),
    size: JSON.stringify(outcome).length,
  };
}

const MAX_LINE = 300;

/** One page of the intents that are remembered, the one that was added to last first. */
export function intentList(
  { intents }: Traces,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Omit<TracesListed, 'sequence'> {
  const all = [...intents.values()].reverse();
  const after = cursor === undefined ? undefined : readCursor(cursor, [z.literal('intents'), z.string()])[1];
  const begin = after === undefined ? 0 : all.findIndex(({ intent }) => intent === after) + 1;
  const page = all.slice(begin, begin + limit);
  const last = page.at(-1);
  return {
    intents: page.map(listed),
    total: all.length,
    ...(last !== undefined && begin + page.length < all.length && { next: cursorOf('intents', last.intent) }),
  };
}

function listed({ intent, total, compacted, blocks, requests, recent }: IntentTrace) {
  const request = requests.original?.text ?? requests.newest?.text;
  const last = recent.at(-1);
  return {
    id: intent,
    entries: total,
    compacted,
    blocks,
    ...(request !== undefined && { request: clipText(quoted(request), MAX_LINE) }),
    ...(last !== undefined && { last: clipText(quoted(entryText(last)), MAX_LINE) }),
  };
}
