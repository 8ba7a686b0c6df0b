import type { CompactedReport } from '../../contracts/replies/compile-reply.js';
import { ACTION_TYPES, type RecordedEntry } from '../../contracts/trace-entry.js';
import { clipText, quoted, type Tokenizer } from '../../shared/text.js';
import { type IntentTrace, type KeyedText, stillOpen, type ToolTally } from './intent-trace.js';
import { type KeptList, sizeSaid, without } from './kept-list.js';

/** The line that opens a summary. */
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
  unresolved: 'Errors still unresolved',
  steps: 'Completed steps',
  runs: 'Runs that succeeded, to run again after a change',
  decisions: 'Decisions',
  changed: 'Other files changed',
  read: 'Files read or used',
  denied: 'Denied',
} as const;
type SectionName = keyof typeof TITLES;
const SECTIONS = Object.keys(TITLES) as SectionName[];
/** Lists that share what room there is. */
const SHARING = ['unresolved', 'steps', 'runs', 'decisions', 'changed', 'read', 'denied'] as const;

/** A line of a summary. */
interface Part {
  readonly section: SectionName;
  readonly text: string;
}

export interface Summary extends CompactedReport {
  readonly text: string;
  /**
   * Its lines, those that are worth most first: what it stands for with all tallies, constraints, requests, then by turns the
   * newest of each list.
   */
  readonly parts: readonly string[];
  /** Number of parts that are tallies, constraints or requests. */
  readonly demands: number;
  /** The summary of some parts only, each by its place, perhaps shortened; each title says how many of its list there are. */
  write(shown: ReadonlyMap<number, string>): string;
}

/**
 * The summary of what has been compacted, or `null` below the first block. Made of the tallies alone, so its bytes stay
 * the same until a further block is compacted, or an error in it is settled, or a constraint is pinned.
 *
 * The first request and the newest have 30 % of the room; lists share the rest fairly by tokens, each its newest first. What
 * is left goes to requests that were cut. Tallies are always there, and constraints go last.
 */
export function summarise(
  trace: IntentTrace,
  tokenizer: Tokenizer,
  maxTokens = DEFAULT_SUMMARY_TOKENS,
): Summary | null {
  if (trace.blocks === 0) return null;
  const tokensBefore = Math.ceil(trace.compactedSize / 4);
  const told = [
    SUMMARY_HEADER,
    `Stands for ${trace.compacted} earlier entries of intent ${quoted(trace.intent)}, about ${tokensBefore} tokens.`,
    ...talliesOf(trace),
  ].join('\n');
  const head = bounded(told, tokenizer, maxTokens);
  const lists = listsOf(trace);
  const written = (some: readonly (Part | undefined)[], isHeaded = true) =>
    writeParts(isHeaded ? head : '', lists, some);
  const room = maxTokens - tokenizer.count(`${head}\n`);
  const { parts, demands } = chosen(trace, lists, tokenizer, room, maxTokens);
  // Tokens of lines are not quite those of a text, and titles grow with their numbers.
  while (parts.length > 0 && tokenizer.count(written(parts)) > maxTokens) parts.pop();
  const text = written(parts);
  return {
    text,
    parts: [head, ...parts.map((part) => part.text)],
    demands: Math.min(demands, parts.length) + 1,
    write: (shown) =>
      written(
        parts.map((part, index) => {
          const said = shown.get(index + 1);
          return said === undefined ? undefined : { ...part, text: said };
        }),
        shown.has(0),
      ),
    entries: trace.compacted,
    blocks: trace.blocks,
    tokensBefore,
    tokensAfter: tokenizer.count(text),
  };
}

export function compactedReport({ entries, blocks, tokensBefore, tokensAfter }: Summary): CompactedReport {
  return { entries, blocks, tokensBefore, tokensAfter };
}

/** The entries since the last block, one line each; below the first block the texts that were pinned follow. */
export function recentLines({ recent, blocks, pinned }: IntentTrace): string[] {
  return [
    ...recent.map(entryLine),
    ...(blocks === 0 ? pinned.items.map((text) => item(`PINNED: ${text}`)) : []),
  ];
}

/** Lines of a section, newest first, and their number including forgotten ones. */
interface Lines {
  readonly lines: readonly string[];
  readonly total: string;
}

function listsOf(trace: IntentTrace): Readonly<Record<SectionName, Lines>> {
  const { pinned, constraints, requests } = trace;
  const { original, newest, between, count } = requests;
  // A step names the files that it changed.
  const inSteps = new Set(trace.steps.items.flatMap((step) => step.split(/[\s,:]+/)));
  const more = pinned.more || constraints.more ? { more: true as const } : {};
  const demanded = [...new Set([...constraints.items, ...pinned.items])];
  const one = (request: KeyedText | undefined) => ({
    lines: request === undefined ? [] : [request.text],
    total: '1',
  });
  return {
    constraints: linesOf({ items: demanded, ...more }),
    original: one(original),
    between: { ...linesOf(between, ({ text }) => text), total: String(Math.max(0, count - 2)) },
    newest: one(newest),
    unresolved: linesOf(stillOpen(trace.unresolved, trace), ({ text }) => text),
    steps: linesOf(trace.steps),
    runs: linesOf(trace.runs, ({ text }) => text),
    decisions: linesOf(trace.decisions),
    changed: linesOf(without(trace.changed, (file) => inSteps.has(file))),
    read: linesOf(trace.read),
    denied: linesOf(stillOpen(trace.denied, trace), ({ text }) => text),
  };
}

/** Equal lines are one that counts them: the same command beside different files, for example. */
function linesOf<T>(list: KeptList<T>, said: (item: T) => string = String): Lines {
  const counts = new Map<string, number>();
  for (const text of list.items.map(said).reverse()) counts.set(text, (counts.get(text) ?? 0) + 1);
  return {
    lines: [...counts].map(([text, count]) => (count === 1 ? text : `${count} × ${text}`)),
    total: sizeSaid({ ...list, items: [...counts.keys()] }),
  };
}

/** The parts that fit, those that are worth most first. */
function chosen(
  { requests }: IntentTrace,
  lists: Readonly<Record<SectionName, Lines>>,
  tokenizer: Tokenizer,
  room: number,
  maxTokens: number,
): { parts: Part[]; readonly demands: number } {
  const parts: Part[] = [];
  let left = room;
  const costOf = (part: Part) =>
    tokenizer.count(`${lineOf(part)}\n`) +
    (isList(part.section) && !parts.some(({ section }) => section === part.section)
      ? tokenizer.count(
          `${titleOf(part.section, lists[part.section].lines.length, lists[part.section].total)}\n`,
        )
      : 0);
  /** Its tokens, or none where it does not fit. */
  const add = (part: Part): number | undefined => {
    const cost = costOf(part);
    if (cost > left) return undefined;
    parts.push(part);
    left -= cost;
    return cost;
  };

  for (const text of lists.constraints.lines) add({ section: 'constraints', text });
  const share = Math.min(left, Math.floor(maxTokens * REQUESTS_SHARE));
  const asked = (['newest', 'original'] as const).flatMap((section) => {
    const request = requests[section];
    return request === undefined
      ? []
      : [{ section, request, wants: costOf({ section, text: request.text }) }];
  });
  const least = Math.min(...asked.map(({ wants }) => wants), share / 2);
  for (const { section, request, wants } of asked) {
    const most = asked.length === 1 ? share : Math.max(share / 2, share - least);
    const text = wants <= most ? request.text : cutRequest(section, request, tokenizer, most);
    if (text !== '') add({ section, text });
  }
  for (const text of lists.between.lines) add({ section: 'between', text: clipText(text, SHORT_REQUEST) });
  const demands = parts.length;
  shareOut(lists, add);
  // Spend the remaining budget on shortened requests first.
  for (const [index, part] of parts.slice(0, demands).entries()) {
    const request =
      part.section === 'newest' || part.section === 'original' ? requests[part.section] : undefined;
    if (request === undefined || part.text === request.text) continue;
    const before = tokenizer.count(lineOf(part));
    const whole = { ...part, text: request.text };
    const isWhole = tokenizer.count(lineOf(whole)) - before <= left;
    const longer = isWhole
      ? whole
      : { ...part, text: cutRequest(part.section, request, tokenizer, before + left) };
    if (longer.text.length <= part.text.length) continue;
    left -= tokenizer.count(lineOf(longer)) - before;
    parts[index] = longer;
  }
  return { parts, demands };
}

/** By turns to the list that has had the fewest tokens so far, until nothing fits any more. */
function shareOut(
  lists: Readonly<Record<SectionName, Lines>>,
  add: (part: Part) => number | undefined,
): void {
  let open = SHARING.map((section) => ({ section, next: 0, had: 0 }));
  while (open.length > 0) {
    const turn = open.reduce((least, each) => (each.had < least.had ? each : least));
    const text = lists[turn.section].lines[turn.next];
    const cost = text === undefined ? undefined : add({ section: turn.section, text });
    if (cost === undefined) open = open.filter((each) => each !== turn);
    else {
      turn.next += 1;
      turn.had += cost;
    }
  }
}

/** The beginning of a request that takes so many tokens, and where the whole is; empty where not even a few words fit. */
function cutRequest(
  section: SectionName,
  { key, text }: KeyedText,
  tokenizer: Tokenizer,
  tokens: number,
): string {
  const said = (length: number) =>
    `${clipText(text, length)} (cut; whole in trace entry ${clipText(quoted(key), 64)})`;
  const length = longest(
    text.length,
    (size) => tokenizer.count(`${lineOf({ section, text: said(size) })}\n`) <= tokens,
  );
  return length < SHORT_REQUEST / 4 ? '' : said(length);
}

/** The largest size up to `most` that fits; what fits fits at each smaller size. */
function longest(most: number, fits: (size: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
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
  const told = tools.filter(({ tool, failure, denied }) => failure + denied > 0 || !ACTIONS.has(tool));
  if (told.length === 0) return [];
  return [`Outcomes (${told.length} of ${told.length} tools):`, ...told.map(outcomeLine)];
}

/** The longest beginning that fits: only tallies larger than the whole bound are ever cut. */
function bounded(text: string, tokenizer: Tokenizer, maxTokens: number): string {
  if (tokenizer.count(text) <= maxTokens) return text;
  const characters = Array.from(text);
  const beginning = (size: number) => characters.slice(0, size).join('');
  return beginning(longest(characters.length, (size) => tokenizer.count(beginning(size)) <= maxTokens));
}

function outcomeLine({ tool, success, failure, denied }: ToolTally): string {
  return item(`${tool}: ${success} succeeded, ${failure} failed, ${denied} denied`);
}

function entryLine(entry: RecordedEntry): string {
  return item(entryText(entry));
}

/** Returns the text of an entry as the agent wrote it. Must be quoted before it is shown. */
export function entryText(entry: RecordedEntry): string {
  const { state, action, status, tool, reasoning } = entry;
  if ((state === 'REQUEST' || action === 'INTENT_SELECTION') && reasoning !== undefined)
    return `REQUEST: ${reasoning}`;
  const what = [entry.files?.join(', '), entry.command, reasoning, entry.output, entry.error];
  const parts = what.filter((part) => part !== undefined);
  return `${status} ${tool ?? action}: ${parts.join(' | ')}`;
}

/** Quoted whole: of two harmless parts, such as `[task` and `9]`, the colon between them would make a provenance. */
function item(text: string): string {
  return `- ${quoted(text)}`;
}
