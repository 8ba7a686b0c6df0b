import { clipText } from '../shared/text.js';

/**
 * How much of a result survives, and where: the one table of limits. The dispatch itself keeps every byte; what follows
 * must fit one message, be read at each replay, or stay in the state of a session.
 */
export const KEPT = {
  /** The outcome on the event. */
  outcome: { text: 500, list: 50 },
  /** Facts: more of one dispatch would push everything else out of the session's memory, or not fit its event. */
  fact: {
    subject: 200,
    relation: 64,
    object: 500,
    perDispatch: 200,
    bytesPerDispatch: 256_000,
    explicit: 50,
  },
  /**
   * What the ledgers need of an outcome, until it is settled. Blockers and required fixes are kept as the event has them,
   * so that none is lost.
   */
  digest: { summary: 240, text: 200, list: 20, demand: 500, demands: 50, files: 50, failures: 3 },
  /** Rejections that a session remembers: what `after` and the next prompt of the task say of them. */
  rejection: { text: 300, list: 100 },
  question: { text: 500, list: 10, options: 10 },
  /** A dispatch as an entry of a trace. */
  traceEntry: { text: 200, files: 20, intent: 128 },
} as const;

/** The first texts of a list, each cut to so many characters. */
export function keptTexts(texts: readonly string[], list: number, characters: number): string[] {
  return texts.slice(0, list).map((text) => clipText(text, characters));
}
