import type { SessionTelemetry } from '../../contracts/compile-request.js';
import type { Token } from '../../contracts/names.js';
import type { KeptPrompt } from '../../contracts/replies/prompt-trace.js';

/**
 * Stores the compilers' counters of each session. Losing a value costs figures, never truth.
 *
 * An implementer must not lose concurrent updates.
 */
export interface TelemetryStore {
  /** Throws `unavailable` if the store cannot be reached. */
  load(session: Token): Promise<SessionTelemetry | undefined>;

  /**
   * Adds a process' counters to the stored ones.
   *
   * @throws ThroughlineError `unavailable` if the store cannot be reached: the counters may be stored; `conflict` after too many
   * lost races
   */
  add(session: Token, counts: SessionTelemetry): Promise<void>;
}

/** A bounded ring of recently compiled prompts per session, without duplicates. Losing some is harmless. */
export interface PromptRing {
  /** Returns all stored prompts of a session, newest first. Throws `unavailable` if the ring cannot be reached. */
  all(session: Token): Promise<readonly KeptPrompt[]>;

  /** Adds a prompt as the newest of its session and evicts the oldest beyond `RING_SIZE`. Throws if it may not be stored. */
  keep(prompt: KeptPrompt): Promise<void>;
}

/** Prompts per session. */
export const RING_SIZE = 200;
