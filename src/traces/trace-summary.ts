import type { CompactedReport } from '../contracts/compile-request.js';
import type { RecordedEntry } from '../contracts/trace-entry.js';
import { quoted } from '../shared/text.js';
import type { Tokenizer } from '../shared/tokenizer.js';
import type { IntentTrace } from './intent-trace.js';

/** The line that opens a summary. */
export const SUMMARY_HEADER = '[Compacted History]';
/** The line that opens the entries since the last block. */
export const RECENT_STEPS = '[Recent Steps]';
/** Most tokens of a summary. */
export const DEFAULT_SUMMARY_TOKENS = 1200;

export interface Summary extends CompactedReport {
  readonly text: string;
}

/**
 * The summary of what has been compacted, or `null` below the first block. Made of the tallies alone, so its bytes
 * stay the same until a further block is compacted.
 *
 * The original ask stands first and whole. When the bound is reached, the oldest lines of the longest lists go, and
 * the ask last of all.
 */
export function summarise(
  trace: IntentTrace,
  tokenizer: Tokenizer,
  maxTokens = DEFAULT_SUMMARY_TOKENS,
): Summary | null {
  if (trace.blocks === 0) return null;
  const tokensBefore = Math.ceil(trace.compactedSize / 4);
  const head = [
    SUMMARY_HEADER,
    `Stands for ${trace.compacted} earlier entries of intent ${quoted(trace.intent)}, about ${tokensBefore} tokens.`,
    ...(trace.ask === undefined ? [] : [`Original ask: ${quoted(trace.ask)}`]),
  ];
  const sections = [
    { title: 'Outcomes:', lines: trace.tools.map(outcomeLine) },
    { title: 'Errors still unresolved:', lines: trace.unresolved.map((error) => item(error.text)) },
    { title: 'Decisions:', lines: trace.decisions.map(item) },
    { title: 'Done, do not do again:', lines: trace.done.map(item) },
    { title: 'Files touched:', lines: trace.files.map(item) },
  ].filter((section) => section.lines.length > 0);
  let text = written(head, sections);
  while (tokenizer.count(text) > maxTokens && sections.some((section) => section.lines.length > 1)) {
    const longest = sections.reduce((a, b) => (b.lines.length > a.lines.length ? b : a));
    longest.lines.splice(0, Math.max(1, Math.floor(longest.lines.length / 4)));
    text = written(head, sections);
  }
  while (tokenizer.count(text) > maxTokens && sections.length > 0) {
    sections.pop();
    text = written(head, sections);
  }
  text = bounded(text, tokenizer, maxTokens);
  return {
    text,
    entries: trace.compacted,
    blocks: trace.blocks,
    tokensBefore,
    tokensAfter: tokenizer.count(text),
  };
}

/** What a summary stands for, as replies say it. */
export function compactedReport({ entries, blocks, tokensBefore, tokensAfter }: Summary): CompactedReport {
  return { entries, blocks, tokensBefore, tokensAfter };
}

/** The entries since the last block, one line each. */
export function recentLines(trace: IntentTrace): string[] {
  return trace.recent.map(entryLine);
}

function written(
  head: readonly string[],
  sections: readonly { title: string; lines: readonly string[] }[],
): string {
  return [...head, ...sections.flatMap(({ title, lines }) => [title, ...lines])].join('\n');
}

/** The longest beginning that fits: only an ask larger than the whole bound is ever cut. */
function bounded(text: string, tokenizer: Tokenizer, maxTokens: number): string {
  if (tokenizer.count(text) <= maxTokens) return text;
  const characters = Array.from(text);
  let low = 0;
  let high = characters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (tokenizer.count(characters.slice(0, middle).join('')) <= maxTokens) low = middle;
    else high = middle - 1;
  }
  return characters.slice(0, low).join('');
}

function outcomeLine({ tool, success, failure, denied }: IntentTrace['tools'][number]): string {
  return item(`${tool}: ${success} succeeded, ${failure} failed, ${denied} denied`);
}

function entryLine(entry: RecordedEntry): string {
  const what = [entry.files?.join(', '), entry.command, entry.reasoning, entry.output, entry.error];
  const parts = what.filter((part) => part !== undefined);
  return item(`${entry.status} ${entry.tool ?? entry.action}: ${parts.join(' | ')}`);
}

/** Quoted whole: of two harmless parts, such as `[task` and `9]`, the colon between them would make a provenance. */
function item(text: string): string {
  return `- ${quoted(text)}`;
}
