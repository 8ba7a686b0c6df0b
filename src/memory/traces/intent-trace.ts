import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isRole, kindOf } from '../../contracts/kinds.js';
import type { Output } from '../../contracts/schema-fields.js';
import { type RecordedEntry, recordedEntry } from '../../contracts/trace-entry.js';
import { clipText, named, withoutEnd } from '../../shared/text.js';
import { changedFiles, changeOf, effectOf, isOfShell, namesPath, ownFiles } from './tool-effects.js';

/** A bounded list that remembers whether anything was forgotten: newest last. */
export interface KeptList<T> {
  readonly items: readonly T[];
  /** There were more than these. */
  readonly more?: true;
}

const NOTHING_KEPT: KeptList<never> = { items: [] };

function keptListOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), more: z.literal(true).exactOptional() });
}

/** The list with these at its end, each once by its key; beyond `max` the oldest are forgotten. */
function keep<T>(
  list: KeptList<T>,
  added: readonly T[],
  max: number,
  keyOf: (item: T) => unknown = (item) => item,
): KeptList<T> {
  if (added.length === 0) return list;
  const all = new Map(list.items.map((item) => [keyOf(item), item]));
  for (const item of added) {
    all.delete(keyOf(item));
    all.set(keyOf(item), item);
  }
  const items = [...all.values()];
  return { items: items.slice(-max), ...((list.more || items.length > max) && { more: true }) };
}

export function without<T>(list: KeptList<T>, isGone: (item: T) => boolean): KeptList<T> {
  return list.items.some(isGone) ? { ...list, items: list.items.filter((item) => !isGone(item)) } : list;
}

const keptTexts = keptListOf(z.string()).meta({
  id: 'KeptTexts',
  description: 'The newest texts of a list.',
});
const keyedText = z
  .object({ key: z.string(), text: z.string() })
  .meta({ id: 'KeyedText', description: 'A text, and what makes two of them the same.' });
const keptKeyedTexts = keptListOf(keyedText).meta({
  id: 'KeptKeyedTexts',
  description: 'The newest texts of a list.',
});
export type KeyedText = Output<typeof keyedText>;

/**
 * Trace of an intent: its requests, tallies of compacted entries, and the entries since. Immutable and bounded in size.
 * Entries are compacted in blocks, so text derived from the tallies changes only when a block is full.
 */
export const intentTrace = z.object({
  intent: z.string(),
  /** All entries ever counted. */
  total: z.number(),
  /** Entries that the tallies stand for, and their size in characters. */
  compacted: z.number(),
  compactedSize: z.number(),
  blocks: z.number(),
  tools: z.array(
    z.object({ tool: z.string(), success: z.number(), failure: z.number(), denied: z.number() }),
  ),
  /** The first and the newest in full, those between as one line each. */
  requests: z.object({
    count: z.number(),
    between: keptKeyedTexts,
    original: keyedText.exactOptional(),
    newest: keyedText.exactOptional(),
  }),
  /** Constraints: sentences of requests. */
  constraints: keptTexts,
  decisions: keptTexts,
  /** Steps that changed something, by their object. */
  steps: keptTexts,
  /** Runs whose newest outcome is a success. */
  runs: keptKeyedTexts,
  changed: keptTexts,
  /** Errors and denials that no later success of the same command, tool and file has settled. */
  unresolved: keptKeyedTexts,
  /** Entries since the last block. The first request and the newest are whole; outputs are masked. */
  recent: z.array(recordedEntry),
  /** Marks of the newest entries' ids, to know a repeated one. */
  seen: z.array(z.string()),
});
export interface IntentTrace extends Omit<Output<typeof intentTrace>, 'recent'> {
  readonly recent: readonly RecordedEntry[];
}
export type ToolTally = IntentTrace['tools'][number];
type Requests = IntentTrace['requests'];

const BLOCK = 20;
const MAX_TOOLS = 30;
const MAX_BETWEEN = 30;
const MAX_CONSTRAINTS = 40;
const MAX_DECISIONS = 20;
const MAX_FILES = 60;
const MAX_UNRESOLVED = 30;
const MAX_STEPS = 30;
const MAX_RUNS = 15;
const MAX_SEEN = 400;
const MAX_LINE = 300;
const MAX_REQUEST_LINE = 200;
const MAX_OBJECT = 160;
const FILES_NAMED = 3;

export function emptyTrace(intent: string): IntentTrace {
  return {
    intent,
    total: 0,
    compacted: 0,
    compactedSize: 0,
    blocks: 0,
    tools: [],
    requests: { count: 0, between: NOTHING_KEPT },
    constraints: NOTHING_KEPT,
    decisions: NOTHING_KEPT,
    steps: NOTHING_KEPT,
    runs: NOTHING_KEPT,
    changed: NOTHING_KEPT,
    unresolved: NOTHING_KEPT,
    recent: [],
    seen: [],
  };
}

/** The trace after one more entry; the same value when the entry was counted before. */
export function addEntry(trace: IntentTrace, entry: RecordedEntry): IntentTrace {
  const mark = markOf(entry.id);
  if (trace.seen.includes(mark)) return trace;
  const grown: IntentTrace = {
    ...trace,
    total: trace.total + 1,
    recent: [...(isRequest(entry) ? trace.recent.map(lineOfRequest(trace)) : trace.recent), entry],
    seen: [...trace.seen, mark].slice(-MAX_SEEN),
  };
  return grown.recent.length < BLOCK ? grown : compacted(grown);
}

/** Returns the errors and denials of the blocks without those that have succeeded since. */
export function stillOpen({ unresolved, recent }: IntentTrace): KeptList<KeyedText> {
  const settled = new Set(recent.filter(({ status }) => status === 'SUCCESS').map(keyOf));
  return without(unresolved, ({ key }) => settled.has(key));
}

function compacted(trace: IntentTrace): IntentTrace {
  const folded = trace.recent.reduce(fold, trace);
  const { recent } = trace;
  return {
    ...folded,
    compacted: trace.compacted + recent.length,
    compactedSize: trace.compactedSize + recent.reduce((sum, entry) => sum + entry.size, 0),
    blocks: trace.blocks + 1,
    recent: [],
  };
}

function fold(trace: IntentTrace, entry: RecordedEntry): IntentTrace {
  const { status, constraints = [], constraints_omitted, files_omitted } = entry;
  const succeeded = status === 'SUCCESS';
  const changed = succeeded ? changedFiles(entry) : [];
  const key = keyOf(entry);
  const isSame = (other: KeyedText) => other.key === key;
  const errors = without(trace.unresolved, isSame);
  return {
    ...trace,
    tools: tally(trace.tools, entry),
    requests: isRequest(entry) ? withRequest(trace.requests, entry) : trace.requests,
    constraints: marked(keep(trace.constraints, constraints, MAX_CONSTRAINTS), constraints_omitted),
    decisions: keep(trace.decisions, decisionOf(entry), MAX_DECISIONS),
    steps: keep(trace.steps, succeeded ? stepOf(entry) : [], MAX_STEPS),
    runs: keep(without(trace.runs, isSame), succeeded ? runOf(entry) : [], MAX_RUNS, ({ key }) => key),
    changed: marked(keep(trace.changed, changed, MAX_FILES), changed.length > 0 && files_omitted),
    unresolved: succeeded ? errors : keep(errors, [{ key, text: errorOf(entry) }], MAX_UNRESOLVED),
  };
}

function marked<T>(list: KeptList<T>, omitted: number | false | undefined): KeptList<T> {
  return omitted ? { ...list, more: true } : list;
}

function withRequest({ count, between, original, newest }: Requests, entry: RecordedEntry): Requests {
  const request = { key: entry.id, text: entry.reasoning ?? '' };
  if (original === undefined) return { count: count + 1, between, original: request };
  const line = newest && { key: newest.key, text: clipText(newest.text, MAX_REQUEST_LINE) };
  const kept = keep(between, line ? [line] : [], MAX_BETWEEN, ({ key }) => key);
  return { count: count + 1, between: kept, original, newest: request };
}

/** True for a request of the user, whose words are longer than those of other entries. One without words asks for nothing. */
export function isRequest({ state, action, reasoning }: RecordedEntry): boolean {
  return (state === 'REQUEST' || action === 'INTENT_SELECTION') && reasoning !== undefined;
}

/** Shortens a request to one line unless it is the first or the newest. */
function lineOfRequest({ requests, recent }: IntentTrace): (entry: RecordedEntry) => RecordedEntry {
  const first = requests.original === undefined ? recent.find(isRequest) : undefined;
  return (entry) =>
    entry === first || entry.reasoning === undefined || entry.reasoning.length <= MAX_LINE
      ? entry
      : { ...entry, reasoning: clipText(entry.reasoning, MAX_LINE) };
}

/** Beyond the limit, further tools are counted together: no outcome is lost. */
function tally(tools: readonly ToolTally[], entry: RecordedEntry): readonly ToolTally[] {
  const name = toolOf(entry);
  const isKept = tools.length < MAX_TOOLS - 1 || tools.some(({ tool }) => tool === name);
  const tool = isKept ? name : 'others';
  const before = tools.find((tally) => tally.tool === tool) ?? { tool, success: 0, failure: 0, denied: 0 };
  const after = {
    tool,
    success: before.success + (entry.status === 'SUCCESS' ? 1 : 0),
    failure: before.failure + (entry.status === 'FAILURE' ? 1 : 0),
    denied: before.denied + (entry.status === 'DENIED' ? 1 : 0),
  };
  return tools.includes(before) ? tools.map((old) => (old === before ? after : old)) : [...tools, after];
}

function decisionOf({ state, action, reasoning }: RecordedEntry): string[] {
  const decides = state === 'REASONING' || action === 'STATE_TRANSITION';
  return decides && reasoning !== undefined && !/[?？]["')\s]*$/.test(reasoning) ? [reasoning] : [];
}

/** Returns what an entry changed and why: "Parse dates: edited src/a.py". What only ran or read is not a step that can be done. */
function stepOf(entry: RecordedEntry): string[] {
  const { action, target, output, tool, reasoning } = entry;
  if (action !== 'TOOL_EXECUTION') return [];
  // A dispatch says itself what came of its task; what only records does nothing.
  const isNote = isRole(tool) && kindOf(tool).part === 'note';
  if (target !== undefined && !isNote) return output === undefined ? [] : [`${tool}: ${output}`];
  if (effectOf(entry) !== 'change') return [];
  const object = objectOf(entry);
  if (object === undefined) return [];
  const did = isCommand(entry) ? undefined : changeOf(tool);
  const step = did === undefined ? `ran ${object}` : `${did} ${object}`;
  return [reasoning === undefined ? step : `${clipText(withoutEnd(reasoning), MAX_OBJECT)}: ${step}`];
}

function runOf(entry: RecordedEntry): KeyedText[] {
  const { action, target, output } = entry;
  if (action !== 'TOOL_EXECUTION' || target !== undefined || effectOf(entry) !== 'run') return [];
  const what = withTool(entry, objectOf(entry));
  const text = output === undefined || output.startsWith('(output of ') ? what : `${what}: ${output}`;
  return [{ key: keyOf(entry), text: clipText(text, MAX_LINE) }];
}

/** Returns what failed or was denied, and why: "edit src/secret.ts was denied: outside the scope". */
function errorOf(entry: RecordedEntry): string {
  const { action, status, target, tool, error, output, reasoning } = entry;
  const isDenied = status === 'DENIED' || action === 'SCOPE_VIOLATION';
  const object = target === undefined ? objectOf(entry) : undefined;
  const what = action === 'SCOPE_VIOLATION' && tool === undefined ? object : withTool(entry, object);
  const why = error ?? (isDenied ? reasoning : undefined) ?? output;
  const happened = `${what ?? toolOf(entry)} ${isDenied ? 'was denied' : 'failed'}`;
  return why === undefined ? happened : `${happened}: ${why}`;
}

/** Returns the object of an entry: its files if the command is an editing tool's input, else the command. */
function objectOf(entry: RecordedEntry): string | undefined {
  const { command, tool } = entry;
  const files = ownFiles(entry);
  if (command !== undefined && (isCommand(entry) || files.length === 0)) {
    const isNamed = !isCommand(entry) && tool !== undefined && command.startsWith(`${tool} `);
    const words = isNamed ? command.slice(tool.length + 1) : command;
    return words.length <= MAX_OBJECT || words.includes('(command of ') ? words : clipText(words, MAX_OBJECT);
  }
  if (files.length === 0) return undefined;
  return named(files, FILES_NAMED);
}

function withTool(entry: RecordedEntry, object: string | undefined): string {
  const tool = toolOf(entry);
  if (object === undefined) return tool;
  return object === tool || object.startsWith(`${tool} `) ? object : `${tool} ${object}`;
}

function isCommand({ tool, command }: RecordedEntry): boolean {
  return command !== undefined && isOfShell(tool, command);
}

/**
 * Names what is done again when it is tried again: the tool, its command and its files. A tool for editing tries again with
 * another command, and a command that names a path is the same one whatever file was open.
 */
function keyOf(entry: RecordedEntry): string {
  const { target, tool, command } = entry;
  const files = ownFiles(entry);
  if (target !== undefined) return markOf(`${toolOf(entry)} ${target}`);
  const isShell = isCommand(entry);
  const parts = [
    toolOf(entry),
    isShell || files.length === 0 ? command : undefined,
    isShell && command !== undefined && namesPath(command) ? undefined : files.join(','),
    // Nothing says what it was done to: no success can settle it.
    tool === undefined && command === undefined && files.length === 0 ? entry.error : undefined,
  ];
  return markOf(JSON.stringify(parts));
}

function toolOf({ tool, action }: RecordedEntry): string {
  return tool ?? action.toLowerCase();
}

/** Ten characters that stand for a text. */
function markOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 10);
}
