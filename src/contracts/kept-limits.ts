import { clipText } from '../shared/text.js';

/** The one table of limits on what events and snapshots keep of a result; the dispatch itself keeps every byte. */
export const KEPT = {
  /** The outcome in the event. */
  outcome: { text: 500, list: 50 },
  /** More facts would crowd out the rest of the session's memory, or not fit the event. */
  fact: {
    subject: 200,
    relation: 64,
    object: 500,
    perDispatch: 200,
    bytesPerDispatch: 256_000,
    explicit: 50,
    artifacts: 50,
  },
  /** The ledgers' copy of an outcome. Blockers and required fixes are kept in full, so that none is lost. */
  digest: { summary: 240, text: 200, list: 20, demand: 500, demands: 50, files: 50, failures: 3 },
  /** Rejections that a session remembers, for `after` and the next prompt of the task. */
  rejection: { text: 300, list: 100 },
  question: { text: 500, list: 10, options: 10 },
  /** A result as a trace entry. */
  traceEntry: { text: 200, files: 20, intent: 128 },
} as const;

export function keptTexts(texts: readonly string[], list: number, characters: number): string[] {
  return texts.slice(0, list).map((text) => clipText(text, characters));
}
