import type { CompactedReport } from '../contracts/replies/compile-reply.js';
import { type SessionState, tracesOf } from '../session/session-state.js';
import { quoted } from '../shared/text.js';
import type { Tokenizer } from '../shared/tokenizer.js';
import { compactedReport, RECENT_STEPS, recentLines, summarise } from '../traces/trace-summary.js';
import { beginnings, type Item, type Listed, type ShownItem, shellWord, titled } from './prompt-items.js';

/** The trace of an intent in a prompt: its compacted history line by line, and the steps since then. */
export interface TraceItems {
  /** Those that are worth most first. */
  readonly history: readonly Item[];
  /** Which of the history are what it stands for, constraints and requests. */
  readonly demands: ReadonlySet<number>;
  readonly recent: readonly Item[];
  /** The text of the history that is shown; empty where nothing is. */
  written(shown: readonly ShownItem[]): string;
  recentPart(shown: readonly ShownItem[]): { readonly section: string; readonly text: string };
  leftOut(history: readonly ShownItem[], recent: readonly ShownItem[]): Listed[];
  /** What a reply says of the history; null where nothing of it is shown. */
  report(shown: readonly ShownItem[] | undefined): CompactedReport | null;
}

export function traceItems(
  state: SessionState,
  intent: string | undefined,
  { tokenizer, maxSummaryTokens }: { readonly tokenizer: Tokenizer; readonly maxSummaryTokens: number },
  binary: string,
): TraceItems {
  const trace = intent === undefined ? undefined : tracesOf(state).intents.get(intent);
  const summary = trace === undefined ? null : summarise(trace, tokenizer, maxSummaryTokens);
  const { parts = [], demands = 0 } = summary ?? {};
  const history = parts.map(
    (text, index): Item => ({
      whole: text,
      // The tallies come together.
      get forms() {
        return index === 0 ? [text] : beginnings(text);
      },
    }),
  );
  const recent = (trace === undefined ? [] : recentLines(trace)).map((line) => ({ forms: beginnings(line) }));
  const command = `${binary} trace show ${state.session} --intent ${shellWord(quoted(intent ?? ''))}`;
  return {
    history,
    demands: new Set(Array.from({ length: demands }, (_, index) => index)),
    recent,
    written: (shown) =>
      shown.length === 0
        ? ''
        : (summary?.write(new Map(shown.map(({ index, text }) => [index, text]))) ?? ''),
    recentPart: (shown) => ({ section: 'recent', text: titled(RECENT_STEPS, shown) }),
    leftOut: (some, steps) => [
      { name: 'the lines of the compacted history', items: history, shown: some, command },
      { name: 'the recent steps', items: recent, shown: steps, command },
    ],
    report: (shown = []) => (summary === null || shown.length === 0 ? null : compactedReport(summary)),
  };
}
