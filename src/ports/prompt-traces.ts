import type { Token } from '../contracts/names.js';
import type { PromptTraceBrief } from '../contracts/replies/prompt-trace.js';

/**
 * What was compiled of late: for each session a bounded ring of prompts, the newest ones.
 *
 * An implementer must give a prompt at most once per call, the newest first, and nothing for a session without any. Losing
 * some costs a look back, never truth.
 */
export interface PromptTraces {
  /**
   * The newest prompts of a session, at most `limit`.
   *
   * @param range `before` names a prompt by its id: only older ones then
   * @throws ThroughlineError `unavailable` when the ring cannot be reached
   */
  recent(
    session: Token,
    range: { readonly before?: string; readonly limit: number },
  ): Promise<readonly RecentPrompt[]>;
}

/** A prompt of the ring, as far as lists need it. */
export interface RecentPrompt extends PromptTraceBrief {
  /** Milliseconds that it took. */
  readonly durationMs: number;
  /** Items left out for lack of room. */
  readonly dropped: number;
  /** Ids of the facts that it showed, as far as they are kept. */
  readonly facts: readonly { readonly id: string }[];
}

/** Where no ring is kept. */
export const NO_PROMPTS: PromptTraces = { recent: async () => [] };
