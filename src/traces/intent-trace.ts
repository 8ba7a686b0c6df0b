import { createHash } from 'node:crypto';
import type { RecordedEntry } from '../contracts/trace-entry.js';
import { clipText } from '../shared/text.js';

/**
 * What a session keeps of an intent's trace: the original ask, tallies of what has been compacted, and the entries
 * since. Entries are compacted in blocks, so what is made of the tallies changes only when a block is full. Bounded,
 * however long the trace; each change makes a new value.
 */
export interface IntentTrace {
  readonly intent: string;
  /** All entries ever counted. */
  readonly total: number;
  /** Entries that the tallies stand for, and their size in characters. */
  readonly compacted: number;
  readonly compactedSize: number;
  readonly blocks: number;
  readonly tools: readonly ToolTally[];
  /** Newest last. */
  readonly decisions: readonly string[];
  readonly files: readonly string[];
  /** Errors that no later success of the same tool on the same target has settled. */
  readonly unresolved: readonly UnresolvedError[];
  /** What succeeded, and must not be done again; newest last. */
  readonly done: readonly string[];
  /** Entries since the last block, verbatim but for masked outputs. */
  readonly recent: readonly RecordedEntry[];
  /** Marks of the newest entries' ids, to know a repeated one. */
  readonly seen: readonly string[];
  readonly ask?: string;
}

export interface ToolTally {
  readonly tool: string;
  readonly success: number;
  readonly failure: number;
  readonly denied: number;
}

export interface UnresolvedError {
  readonly key: string;
  readonly text: string;
}

/** When entries are compacted. */
export interface CompactionRhythm {
  /** Entries that make the first block. */
  readonly threshold: number;
  /** Further entries that make each further block. */
  readonly block: number;
}

export const DEFAULT_RHYTHM: CompactionRhythm = { threshold: 20, block: 20 };

const MAX_TOOLS = 30;
const MAX_DECISIONS = 15;
const MAX_FILES = 40;
const MAX_UNRESOLVED = 15;
const MAX_DONE = 20;
const MAX_SEEN = 400;
const MAX_LINE = 300;

export function emptyTrace(intent: string): IntentTrace {
  return {
    intent,
    total: 0,
    compacted: 0,
    compactedSize: 0,
    blocks: 0,
    tools: [],
    decisions: [],
    files: [],
    unresolved: [],
    done: [],
    recent: [],
    seen: [],
  };
}

/** The trace after one more entry; the same value when the entry was counted before. */
export function addEntry(trace: IntentTrace, entry: RecordedEntry, rhythm: CompactionRhythm): IntentTrace {
  const mark = markOf(entry.id);
  if (trace.seen.includes(mark)) return trace;
  const ask = trace.ask ?? askOf(entry);
  const grown: IntentTrace = {
    ...trace,
    total: trace.total + 1,
    recent: [...trace.recent, shortened(entry)],
    seen: [...trace.seen, mark].slice(-MAX_SEEN),
    ...(ask !== undefined && { ask }),
  };
  const due = grown.blocks === 0 ? rhythm.threshold : rhythm.block;
  return grown.recent.length < due ? grown : compacted(grown);
}

function compacted(trace: IntentTrace): IntentTrace {
  const { recent } = trace;
  return {
    ...trace,
    compacted: trace.compacted + recent.length,
    compactedSize: trace.compactedSize + recent.reduce((sum, entry) => sum + entry.size, 0),
    blocks: trace.blocks + 1,
    tools: recent.reduce(tally, trace.tools),
    decisions: newest([...trace.decisions, ...recent.flatMap(decisionOf)], MAX_DECISIONS),
    files: newest([...trace.files, ...recent.flatMap((entry) => entry.files ?? [])], MAX_FILES),
    unresolved: recent.reduce(settle, trace.unresolved).slice(-MAX_UNRESOLVED),
    done: newest([...trace.done, ...recent.flatMap(doneOf)], MAX_DONE),
    recent: [],
  };
}

/** An ask is kept beside the entries; in its entry a line of it is enough. */
function shortened(entry: RecordedEntry): RecordedEntry {
  const { reasoning } = entry;
  if (reasoning === undefined || reasoning.length <= MAX_LINE) return entry;
  return { ...entry, reasoning: clipText(reasoning, MAX_LINE) };
}

function askOf({ state, action, reasoning }: RecordedEntry): string | undefined {
  return state === 'REQUEST' || action === 'INTENT_SELECTION' ? reasoning : undefined;
}

function tally(tools: readonly ToolTally[], entry: RecordedEntry): readonly ToolTally[] {
  const tool = toolOf(entry);
  const known = tools.find((each) => each.tool === tool);
  const before = known ?? { tool, success: 0, failure: 0, denied: 0 };
  const after = {
    tool,
    success: before.success + (entry.status === 'SUCCESS' ? 1 : 0),
    failure: before.failure + (entry.status === 'FAILURE' ? 1 : 0),
    denied: before.denied + (entry.status === 'DENIED' ? 1 : 0),
  };
  if (known !== undefined) return tools.map((each) => (each === known ? after : each));
  return tools.length < MAX_TOOLS ? [...tools, after] : addToOthers(tools, after);
}

/** Beyond the bound, further tools are counted together: no outcome is lost. */
function addToOthers(tools: readonly ToolTally[], more: ToolTally): readonly ToolTally[] {
  const last = tools.at(-1);
  if (last === undefined) return [more];
  const others = {
    tool: 'others',
    success: last.success + more.success,
    failure: last.failure + more.failure,
    denied: last.denied + more.denied,
  };
  return [...tools.slice(0, -1), others];
}

function decisionOf({ state, action, reasoning }: RecordedEntry): string[] {
  const decides = state === 'REASONING' || action === 'STATE_TRANSITION';
  return decides && reasoning !== undefined ? [clipText(reasoning, MAX_LINE)] : [];
}

function doneOf(entry: RecordedEntry): string[] {
  if (entry.action !== 'TOOL_EXECUTION' || entry.status !== 'SUCCESS') return [];
  const what = entry.output ?? entry.command ?? entry.files?.join(', ');
  return [what === undefined ? toolOf(entry) : `${toolOf(entry)}: ${clipText(what, MAX_LINE)}`];
}

function settle(open: readonly UnresolvedError[], entry: RecordedEntry): readonly UnresolvedError[] {
  const key = markOf(`${toolOf(entry)} ${entry.target ?? entry.files?.join(',') ?? entry.command ?? ''}`);
  const others = open.filter((each) => each.key !== key);
  if (entry.status === 'SUCCESS') return others;
  const why = entry.error ?? entry.output ?? entry.status.toLowerCase();
  return [...others, { key, text: `${toolOf(entry)} ${entry.status.toLowerCase()}: ${why}` }];
}

function toolOf({ tool, action }: RecordedEntry): string {
  return tool ?? action.toLowerCase();
}

/** Ten characters that stand for a text. */
function markOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 10);
}

/** The newest distinct items, each where it came last. */
function newest(items: readonly string[], max: number): readonly string[] {
  return [...new Set(items.toReversed())].slice(0, max).reverse();
}
