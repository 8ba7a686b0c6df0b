import { addEntry, type CompactionRhythm, emptyTrace, type IntentTrace } from '../compaction/intent-trace.js';
import type { DispatchOutcome } from '../contracts/session-events.js';
import type { RecordedEntry } from '../contracts/trace.js';
import { clipText, quoted } from '../text.js';

/** Traces of a session, by intent; the one that was added to last stands at the end. */
export interface Traces {
  readonly intents: Map<string, IntentTrace>;
  /** Entries that named no intent: counted, and no more. */
  withoutIntent: number;
  malformed: number;
}

export interface TracesJson {
  readonly intents: readonly IntentTrace[];
  readonly without_intent: number;
  readonly malformed: number;
}

/** Intents that are remembered; an agent works on one at a time. */
const MAX_INTENTS = 12;
/** Characters of all traces together: with everything else a snapshot must fit one message. */
const MAX_SIZE = 300_000;
const MAX_TEXT = 200;

export function emptyTraces(): Traces {
  return { intents: new Map(), withoutIntent: 0, malformed: 0 };
}

export function tracesToJson({ intents, withoutIntent, malformed }: Traces): TracesJson {
  return { intents: [...intents.values()].map(ordered), without_intent: withoutIntent, malformed };
}

export function tracesFromJson({ intents, without_intent, malformed }: TracesJson): Traces {
  return {
    intents: new Map(intents.map((trace) => [trace.intent, trace])),
    withoutIntent: without_intent,
    malformed,
  };
}

/** Adds an entry to the trace of its intent. */
export function traceEntry(
  traces: Traces,
  { at: _at, ...entry }: RecordedEntry,
  rhythm: CompactionRhythm,
): void {
  const { intent } = entry;
  if (intent === null) {
    traces.withoutIntent += 1;
    return;
  }
  const continued = [...traces.intents.keys()].at(-1) === intent;
  const trace = addEntry(traces.intents.get(intent) ?? emptyTrace(intent), entry, rhythm);
  traces.intents.delete(intent);
  traces.intents.set(intent, trace);
  // A change of intent is rare; only then are all the others weighed.
  if (!continued) forgetOldest(traces.intents);
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

/** A dispatch that names an intent as an entry of its trace, or `undefined`. */
export function entryOfDispatch(dispatch: DispatchOutcome): RecordedEntry | undefined {
  const { outcome, sequence, role, task } = dispatch;
  if (!outcome.intent_id) return undefined;
  const implemented = dispatch.role === 'implementer' ? dispatch.outcome : undefined;
  const said = implemented?.status ?? (dispatch.role === 'reviewer' ? dispatch.outcome.assessment : '');
  const files = implemented?.files_modified?.slice(0, 20).map((file) => clipText(quoted(file), MAX_TEXT));
  const output = `task ${task} ${said}${implemented === undefined ? '' : `: ${implemented.summary}`}`;
  return {
    id: `dispatch:${sequence}`,
    intent: clipText(outcome.intent_id, 128),
    action: 'TOOL_EXECUTION',
    status: said === 'completed' || said === 'approved' ? 'SUCCESS' : 'FAILURE',
    tool: role,
    target: clipText(task, MAX_TEXT),
    ...(files !== undefined && files.length > 0 && { files }),
    output: clipText(quoted(output), MAX_TEXT),
    size: JSON.stringify(outcome).length,
  };
}

// The ask comes when it comes; in the bytes it stands last.
function ordered({ ask, ...trace }: IntentTrace): IntentTrace {
  const {
    intent,
    total,
    compacted,
    compactedSize,
    blocks,
    tools,
    decisions,
    files,
    unresolved,
    done,
    recent,
    seen,
  } = trace;
  return {
    intent,
    total,
    compacted,
    compactedSize,
    blocks,
    tools,
    decisions,
    files,
    unresolved,
    done,
    recent,
    seen,
    ...(ask !== undefined && { ask }),
  };
}
