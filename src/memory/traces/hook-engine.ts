import { LATE, withinDeadline } from '../../shared/deadlines.js';

/** Runs before a model is called; may give a text to put before the system prompt, or null. */
export type PreLlmHook = (intentId: string) => Promise<string | null>;

/** Runs hooks before a model is called. */
export class HookEngine {
  readonly #hooks: PreLlmHook[] = [];

  /** Adds a hook; hooks run in the order in which they were added. */
  registerPreLLM(hook: PreLlmHook): this {
    this.#hooks.push(hook);
    return this;
  }

  /** Returns the hooks' texts, joined by an empty line; null without any, or without an intent. Rejects when a hook does. */
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

/** Returns the summary of an intent's trace, or null. The bytes must change only when a further block is compacted. */
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

/** Adds a stable summary before the system prompt of a model call, and never blocks the call. */

export interface PreLlmOptions {
  /** Without one, system prompts stay untouched. */
  readonly hookEngine?: Pick<HookEngine, 'preLLMRequest'> | null | undefined;
  /** The intent that is worked on, or how to learn it at each call. */
  readonly activeIntentId?: string | undefined | (() => string | undefined);
  /** Told when a hook failed; a `console` will do. */
  readonly logger: { error(fields: object, message: string): void };
  /** For the log. */
  readonly session?: string;
  /** The task that is worked on, or how to learn it at each call; for the log. */
  readonly taskId?: string | undefined | (() => string | undefined);
  /** Longest wait for the hooks, in milliseconds. Default 2000. */
  readonly deadlineMs?: number;
  /** Called with both prompts before each call: count the tokens of a context window by `original`. */
  readonly onPrepared?: (prepared: PreparedPrompt) => void;
}

/** A system prompt before and after the hooks. */
export interface PreparedPrompt {
  /** The system prompt as it was given: the same string. */
  readonly original: string;
  /** The prompt sent to the model: the summary, an empty line, the original; or the original alone. */
  readonly effective: string;
  readonly summary: string | null;
}

const DEFAULT_DEADLINE_MS = 2000;

/** Asks the hooks once, and returns both prompts. Never rejects. */
export async function preparePrompt(systemPrompt: string, options: PreLlmOptions): Promise<PreparedPrompt> {
  const { hookEngine, activeIntentId, deadlineMs = DEFAULT_DEADLINE_MS } = options;
  const untouched = { original: systemPrompt, effective: systemPrompt, summary: null };
  if (hookEngine === undefined || hookEngine === null) return untouched;
  let intentId: string | undefined;
  try {
    intentId = current(activeIntentId);
    const summary = await withinDeadline(deadlineMs, hookEngine.preLLMRequest(intentId));
    if (summary === LATE) throw new Error(`no answer within ${deadlineMs} ms`);
    if (!summary) return untouched;
    return { original: systemPrompt, effective: `${summary}\n\n${systemPrompt}`, summary };
  } catch (error) {
    const message = 'pre-LLM hook failed: the model is called with the original system prompt';
    tell(options, { intentId, ...faultOf(error) }, message);
    return untouched;
  }
}

/**
 * Decorates a function that calls a model with a system prompt as its first argument. The function is called exactly
 * once, with the prompt that the hooks have prepared, and its answer or rejection is passed on as it is.
 */
export function withPreLlmCompaction<Rest extends readonly unknown[], Answer>(
  createMessage: (systemPrompt: string, ...rest: Rest) => Answer | PromiseLike<Answer>,
  options: PreLlmOptions,
): (systemPrompt: string, ...rest: Rest) => Promise<Answer> {
  return async (systemPrompt, ...rest) => {
    const prepared = await preparePrompt(systemPrompt, options);
    try {
      options.onPrepared?.(prepared);
    } catch (error) {
      tell(options, faultOf(error), 'onPrepared failed: the model is called');
    }
    return await createMessage(prepared.effective, ...rest);
  };
}

/** Logs with session and task. A logger that throws must not keep the model from being called. */
function tell({ logger, session, taskId }: PreLlmOptions, fields: object, message: string): void {
  try {
    logger.error({ session, task: current(taskId), ...fields }, message);
  } catch {
    // Nobody is left to tell.
  }
}

function current(given: string | undefined | (() => string | undefined)): string | undefined {
  return typeof given === 'function' ? given() : given;
}

function faultOf(error: unknown) {
  return { err: error, stack: error instanceof Error ? error.stack : undefined };
}
