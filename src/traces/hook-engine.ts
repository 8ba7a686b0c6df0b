/**
 * Hooks that run before a model is called. Each may give a text to put before the system prompt, or null.
 */
export type PreLlmHook = (intentId: string) => Promise<string | null>;

/** Runs hooks before a model is called. */
export class HookEngine {
  readonly #hooks: PreLlmHook[] = [];

  /** Adds a hook; hooks run in the order in which they were added. */
  registerPreLLM(hook: PreLlmHook): this {
    this.#hooks.push(hook);
    return this;
  }

  /**
   * What the hooks want before the system prompt, joined by an empty line; null when none wants anything, and always
   * without an intent. Rejects when a hook does.
   */
  async preLLMRequest(intentId: string | undefined): Promise<string | null> {
    if (intentId === undefined) return null;
    const texts: string[] = [];
    for (const hook of this.#hooks) {
      const text = await hook(intentId);
      if (text) texts.push(text);
    }
    return texts.length === 0 ? null : texts.join('\n\n');
  }
}

/**
 * Gives the summary of an intent's trace, or null while there is none. An implementer must give the same bytes until
 * a further block of entries is compacted.
 */
export interface CompactionSource {
  compactedSummary(intentId: string): Promise<string | null>;
}

/** The hook that puts the compacted history of the active intent before the system prompt. */
export class PreCompactHook {
  readonly #source: CompactionSource;

  constructor(source: CompactionSource) {
    this.#source = source;
  }

  /** Null below the threshold, else the summary. */
  compact(intentId: string): Promise<string | null> {
    return this.#source.compactedSummary(intentId);
  }

  /** The same as a hook for `HookEngine.registerPreLLM`. */
  readonly hook: PreLlmHook = (intentId) => this.compact(intentId);
}
