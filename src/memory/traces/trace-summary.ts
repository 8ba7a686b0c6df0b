import type { CompactedReport } from '../../contracts/replies/compile-reply.js';
import { ACTION_TYPES, type RecordedEntry } from '../../contracts/trace-entry.js';
import { largestFitting } from '../../shared/collections.js';
import { clipText, quoted, tokensIn } from '../../shared/text.js';
import {
  type IntentTrace,
  isRequest,
  type KeptList,
  type KeyedText,
  stillOpen,
  without,
} from './intent-trace.js';

export const SUMMARY_HEADER = '[Compacted History]';
/** Most tokens of a summary. */
export const DEFAULT_SUMMARY_TOKENS = 1200;
/** Share of a summary that the first request and the newest have for certain. */
const REQUESTS_SHARE = 0.3;
/** Characters of a request between them while other things wait for room. */
const SHORT_REQUEST = 120;

/** Sections in the order in which they stand; what a list holds is said in its title. */
const TITLES = {
  constraints: 'Constraints',
  original: 'Original request',
  between: 'Requests between',
  newest: 'Newest request',
  unresolved: 'Errors and denials still unresolved',
  steps: 'Completed steps',
  runs: 'Runs that succeeded, to run again after a change',
  decisions: 'Decisions',
  changed: 'Other files changed',
} as const;
type SectionName = keyof typeof TITLES;
const SECTIONS = Object.keys(TITLES) as SectionName[];
/** Lists that share what room there is. */
const SHARING = ['unresolved', 'steps', 'runs', 'decisions', 'changed'] as const;

interface Part {
  readonly section: SectionName;
  readonly text: string;
}

export interface Summary extends CompactedReport {
  readonly text: string;
  /** Its lines, most valuable first: what it stands for with all tallies, constraints, requests, then the newest of each list. */
  readonly parts: readonly string[];
  /** Number of parts that are tallies, constraints or requests. */
  readonly demands: number;
  /** The summary of some parts only, each by its place, perhaps shortened; each title says how many of its list there are. */
  write(shown: ReadonlyMap<number, string>): string;
}

/**
 * The summary of what has been compacted, or `null` below the first block. Made of the tallies alone, so its bytes stay
 * the same until a further block is compacted, or an error in it is settled.
 *
 * The first request and the newest have 30 % of the tokens; lists share the rest fairly, each its newest first. What
 * they leave goes to the requests too. Tallies are always there, and constraints are dropped last.
 */
export function summarise(trace: IntentTrace, maxTokens = DEFAULT_SUMMARY_TOKENS): Summary | null {
  if (trace.blocks === 0) return null;
  const tokensBefore = Math.ceil(trace.compactedSize / 4);
  const lines = [
    SUMMARY_HEADER,
    `Stands for ${trace.compacted} earlier entries of intent ${quoted(trace.intent)}, about ${tokensBefore} tokens.`,
    ...talliesOf(trace),
  ];
  while (lines.length > 1 && tokensIn(lines.join('\n')) > maxTokens) lines.pop();
  const head = lines.join('\n');
  const lists = listsOf(trace);
  const written = (some: readonly (Part | undefined)[], isHeaded = true) =>
    writeParts(isHeaded ? head : '', lists, some);
  const room = maxTokens - tokensIn(`${head}\n`);
  const { parts, demands } = chosen(trace, lists, room, maxTokens);
  // Tokens of lines are not quite those of a text, and titles grow with their numbers.
  while (parts.length > 0 && tokensIn(written(parts)) > maxTokens) parts.pop();
  const text = written(parts);
  return {
    text,
    parts: [head, ...parts.map((part) => part.text)],
    demands: Math.min(demands, parts.length) + 1,
    write: (shown) =>
      written(
        parts.map((part, index) => {
          const shownText = shown.get(index + 1);
          return shownText === undefined ? undefined : { ...part, text: shownText };
        }),
        shown.has(0),
      ),
    entries: trace.compacted,
    blocks: trace.blocks,
    tokensBefore,
    tokensAfter: tokensIn(text),
  };
}

export function compactedReport({ entries, blocks, tokensBefore, tokensAfter }: Summary): CompactedReport {
  return { entries, blocks, tokensBefore, tokensAfter };
}

/** The entries since the last block, one line each. */
export function recentLines({ recent }: IntentTrace): string[] {
  return recent.map((entry) => item(entryText(entry)));
}

/** Lines of a section, newest first, and their number including forgotten ones. */
interface Lines {
  readonly lines: readonly string[];
  readonly total: string;
}

function listsOf(trace: IntentTrace): Readonly<Record<SectionName, Lines>> {
  const { constraints, requests } = trace;
  const { original, newest, between, count } = requests;
  // A step names the files that it changed.
  const inSteps = new Set(trace.steps.items.flatMap((step) => step.split(/[\s,:]+/)));
  const one = (request: KeyedText | undefined) => ({
    lines: request === undefined ? [] : [request.text],
    total: '1',
  });
  return {
    constraints: linesOf(constraints),
    original: one(original),
    between: { ...linesOf(between, ({ text }) => text), total: String(Math.max(0, count - 2)) },
    newest: one(newest),
    unresolved: linesOf(stillOpen(trace), ({ text }) => text),
    steps: linesOf(trace.steps),
    runs: linesOf(trace.runs, ({ text }) => text),
    decisions: linesOf(trace.decisions),
    changed: linesOf(without(trace.changed, (file) => inSteps.has(file))),
  };
}

/** Equal lines are one that counts them: the same command beside different files, for example. */
function linesOf<T>(list: KeptList<T>, textOf: (item: T) => string = String): Lines {
  const counts = new Map<string, number>();
  for (const text of list.items.map(textOf).reverse()) counts.set(text, (counts.get(text) ?? 0) + 1);
  return {
    lines: [...counts].map(([text, count]) => (count === 1 ? text : `${count} × ${text}`)),
    total: list.more ? `${counts.size} or more` : String(counts.size),
  };
}

function chosen(
  { requests }: IntentTrace,
  lists: Readonly<Record<SectionName, Lines>>,
  room: number,
  maxTokens: number,
): { parts: Part[]; readonly demands: number } {
  let left = room;
  const titled = new Set<SectionName>();
  const costOf = ({ section, text }: Part) => {
    const { lines, total } = lists[section];
    const hasTitle = !isList(section) || titled.has(section);
    const title = hasTitle ? 0 : tokensIn(`${titleOf(section, lines.length, total)}\n`);
    return title + tokensIn(`${lineOf({ section, text })}\n`);
  };
  /** Adds what fits, and returns its tokens. */
  const addTo = (parts: Part[], part: Part): number | undefined => {
    const cost = costOf(part);
    if (cost > left) return undefined;
    parts.push(part);
    titled.add(part.section);
    left -= cost;
    return cost;
  };

  const constraints: Part[] = [];
  const between: Part[] = [];
  const shared: Part[] = [];
  const requestParts: Part[] = [];
  for (const text of lists.constraints.lines) addTo(constraints, { section: 'constraints', text });
  const wanted = (['newest', 'original'] as const).flatMap((section) => {
    const request = requests[section];
    return request === undefined
      ? []
      : [{ section, request, wants: costOf({ section, text: request.text }) }];
  });
  const all = wanted.reduce((sum, { wants }) => sum + wants, 0);
  const reserved = Math.min(left, all, Math.floor(maxTokens * REQUESTS_SHARE));
  left -= reserved;
  for (const text of lists.between.lines)
    addTo(between, { section: 'between', text: clipText(text, SHORT_REQUEST) });
  shareOut(lists, (part) => addTo(shared, part));
  // The requests also get the room that the lists did not use.
  left += reserved;
  for (const [at, { section, request, wants }] of wanted.entries()) {
    const next = wanted[at + 1]?.wants ?? 0;
    const most = Math.max(next === 0 ? left : left / 2, left - next);
    const text = wants <= most ? request.text : cutRequest(section, request, most);
    if (text !== '') addTo(requestParts, { section, text });
  }
  const demands = constraints.length + requestParts.length + between.length;
  return { parts: [...constraints, ...requestParts, ...between, ...shared], demands };
}

/** By turns to the list that has had the fewest tokens so far, until nothing fits any more. */
function shareOut(
  lists: Readonly<Record<SectionName, Lines>>,
  add: (part: Part) => number | undefined,
): void {
  let open = SHARING.map((section) => ({ section, next: 0, had: 0 }));
  while (open.length > 0) {
    const turn = open.reduce((least, list) => (list.had < least.had ? list : least));
    const text = lists[turn.section].lines[turn.next];
    const cost = text === undefined ? undefined : add({ section: turn.section, text });
    if (cost === undefined) open = open.filter((list) => list !== turn);
    else {
      turn.next += 1;
      turn.had += cost;
    }
  }
}

/** The beginning of a request that takes so many tokens, and where the whole is; empty where not even a few words fit. */
function cutRequest(section: SectionName, { key, text }: KeyedText, tokens: number): string {
  const cutTo = (length: number) =>
    `${clipText(text, length)} (cut; whole in trace entry ${clipText(quoted(key), 64)})`;
  const fits = (size: number) => tokensIn(`${lineOf({ section, text: cutTo(size) })}\n`) <= tokens;
  const length = largestFitting(fits, { least: 0, most: text.length }) ?? 0;
  return length < SHORT_REQUEST / 4 ? '' : cutTo(length);
}

function writeParts(
  head: string,
  lists: Readonly<Record<SectionName, Lines>>,
  parts: readonly (Part | undefined)[],
): string {
  const lines = SECTIONS.flatMap((name) => {
    const shown = parts.filter((part): part is Part => part?.section === name);
    const title = isList(name) && shown.length > 0 ? [titleOf(name, shown.length, lists[name].total)] : [];
    return [...title, ...shown.map(lineOf)];
  });
  return [...(head === '' ? [] : [head]), ...lines].join('\n');
}

function isList(section: SectionName): boolean {
  return section !== 'original' && section !== 'newest';
}

function titleOf(section: SectionName, shown: number, total: string): string {
  return `${TITLES[section]} (${shown} of ${total}${shown > 1 ? ', newest first' : ''}):`;
}

function lineOf({ section, text }: Part): string {
  return isList(section) ? item(text) : `${TITLES[section]}: ${quoted(text)}`;
}

const ACTIONS: ReadonlySet<string> = new Set(ACTION_TYPES.map((action) => action.toLowerCase()));

/** Returns the outcomes of each tool. Thoughts and requests are not outcomes. */
function talliesOf({ tools }: IntentTrace): string[] {
  const shown = tools.filter(({ tool, failure, denied }) => failure + denied > 0 || !ACTIONS.has(tool));
  if (shown.length === 0) return [];
  const lines = shown.map(({ tool, success, failure, denied }) =>
    item(`${tool}: ${success} succeeded, ${failure} failed, ${denied} denied`),
  );
  return [`Outcomes (${shown.length} of ${shown.length} tools):`, ...lines];
}

/** Returns the text of an entry as the agent wrote it. Must be quoted before it is shown. */
export function entryText(entry: RecordedEntry): string {
  const { action, status, tool, reasoning } = entry;
  if (isRequest(entry)) return `REQUEST: ${reasoning}`;
  const what = [entry.files?.join(', '), entry.command, reasoning, entry.output, entry.error];
  const parts = what.filter((part) => part !== undefined);
  return `${status} ${tool ?? action}: ${parts.join(' | ')}`;
}

/** Quoted whole: of two harmless parts, such as `[task` and `9]`, the colon between them would make a provenance. */
function item(text: string): string {
  return `- ${quoted(text)}`;
}
