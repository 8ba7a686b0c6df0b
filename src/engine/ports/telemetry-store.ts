import type { Token } from '../../contracts/names.js';
import type { KeptPrompt, PromptTraceBrief } from '../../contracts/replies/prompt-trace.js';
import type { StoredTelemetry, TelemetryBatch } from '../../contracts/session-telemetry.js';

/**
 * Keeps what compilers have counted of each session, beside its snapshot.
 *
 * An implementer must lose nothing where several write at once, and must count a batch once, however often it comes.
 * Losing a value costs figures, never truth.
 */
export interface TelemetryStore {
  /** What is stored of a session, or `undefined`. Throws `unavailable` when the store cannot be reached. */
  load(session: Token): Promise<StoredTelemetry | undefined>;

  /**
   * Adds what a process has counted to what is stored.
   *
   * @throws ThroughlineError `unavailable` when the store cannot be reached; the batch may or may not be stored then,
   * and may come again. `conflict` when others write all the time
   */
  add(session: Token, writer: string, batch: TelemetryBatch): Promise<void>;
}

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
   * @param range `before` names a prompt by its id: only older ones then, and none where it is not kept any longer
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

/** The ring itself, for those who write it and show what is in it. */
export interface PromptRing extends PromptTraces {
  /** All prompts that are kept of a session, the newest first. Throws `unavailable` as `recent` does. */
  all(session: Token): Promise<readonly KeptPrompt[]>;

  /**
   * Keeps a prompt as the newest of its session; beyond `RING_SIZE` the oldest goes.
   *
   * @throws ThroughlineError when it is not known to be stored
   */
  keep(prompt: KeptPrompt): Promise<void>;
}

/** Prompts that are kept of a session. */
export const RING_SIZE = 200;

/** Those that are older than the prompt `before`, at most `limit`, of prompts that stand the newest first. */
export function pageOf<Prompt extends { readonly id: string }>(
  prompts: readonly Prompt[],
  { before, limit }: { readonly before?: string; readonly limit: number },
): readonly Prompt[] {
  const at = before === undefined ? -1 : prompts.findIndex(({ id }) => id === before);
  if (before !== undefined && at === -1) return [];
  return prompts.slice(at + 1, at + 1 + limit);
}

/** Where no ring is kept. */
export const NO_PROMPTS: PromptTraces = { recent: async () => [] };
