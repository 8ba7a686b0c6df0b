import type { StoredTelemetry, TelemetryBatch } from '../../contracts/compile-request.js';
import type { Token } from '../../contracts/names.js';
import type { KeptPrompt, PromptTraceBrief } from '../../contracts/replies/prompt-trace.js';

/**
 * Stores the compilers' counters of each session. Losing a value costs figures, never truth.
 *
 * An implementer must not lose concurrent updates, and must count a repeated batch once.
 */
export interface TelemetryStore {
  /** Throws `unavailable` if the store cannot be reached. */
  load(session: Token): Promise<StoredTelemetry | undefined>;

  /**
   * Adds a process' counters to the stored ones.
   *
   * @throws ThroughlineError `unavailable` if the store cannot be reached: the batch may be stored, and can be repeated;
   * `conflict` after too many lost races
   */
  add(session: Token, writer: string, batch: TelemetryBatch): Promise<void>;
}

/**
 * A bounded ring of recently compiled prompts per session, newest first, without duplicates. Losing some is harmless.
 */
export interface PromptTraces {
  /**
   * Returns the newest prompts of a session, at most `limit`.
   *
   * @param range `before` is the id of a prompt: returns only older ones, and none if that one left the ring
   * @throws ThroughlineError `unavailable` if the ring cannot be reached
   */
  recent(
    session: Token,
    range: { readonly before?: string; readonly limit: number },
  ): Promise<readonly RecentPrompt[]>;
}

/** The part of a prompt that lists need. */
export interface RecentPrompt extends PromptTraceBrief {
  readonly durationMs: number;
  /** Items omitted because of the budget. */
  readonly dropped: number;
  /** Ids of the facts that it included, if still stored. */
  readonly facts: readonly { readonly id: string }[];
}

export interface PromptRing extends PromptTraces {
  /** Returns all stored prompts of a session, newest first. Throws as `recent`. */
  all(session: Token): Promise<readonly KeptPrompt[]>;

  /** Adds a prompt as the newest of its session and evicts the oldest beyond `RING_SIZE`. Throws if it may not be stored. */
  keep(prompt: KeptPrompt): Promise<void>;
}

/** Prompts per session. */
export const RING_SIZE = 200;

/** Returns at most `limit` prompts that are older than `before`, of prompts sorted newest first. */
export function pageOf<Prompt extends { readonly id: string }>(
  prompts: readonly Prompt[],
  { before, limit }: { readonly before?: string; readonly limit: number },
): readonly Prompt[] {
  const at = before === undefined ? -1 : prompts.findIndex(({ id }) => id === before);
  if (before !== undefined && at === -1) return [];
  return prompts.slice(at + 1, at + 1 + limit);
}
