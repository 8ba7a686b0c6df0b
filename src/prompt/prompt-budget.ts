import type { RequestedBudget } from '../contracts/compile-request.js';
import { ThroughlineError } from '../contracts/errors.js';
import { KINDS, ROLES, type Role } from '../contracts/kinds.js';
import { type ResolvedSettings, resolvedSettings } from '../session/resolved-settings.js';
import { approximateTokenizer, type Tokenizer } from '../shared/tokenizer.js';
import { DEFAULT_SUMMARY_TOKENS } from '../traces/trace-summary.js';

/** Room for input: the cap of a role less what the model may answer. */
export interface PromptBudget {
  /** Tokens of input and output together, by role. */
  readonly caps: Readonly<Record<Role, number>>;
  readonly maxOutputTokens: number;
  /** Most tokens of a compacted history. */
  readonly maxSummaryTokens: number;
  readonly tokenizer: Tokenizer;
}

/** The budget of a session by its settings. */
export function budgetOf(settings: ResolvedSettings, tokenizer: Tokenizer): PromptBudget {
  const caps = ROLES.map((role) => [role, settings[KINDS[role].tokens]]);
  return {
    caps: Object.fromEntries(caps),
    maxOutputTokens: settings.maxOutputTokens,
    maxSummaryTokens: DEFAULT_SUMMARY_TOKENS,
    tokenizer,
  };
}

/** The budget of a session without settings of its own. */
export const DEFAULT_BUDGET: PromptBudget = budgetOf(resolvedSettings(), approximateTokenizer);

/** Tokens that a kind of prompt may have where the request does not say. */
export const DEFAULT_ROOM = { iteration: 8000, 'session-start': 2000 } as const;

/**
 * The room of a dispatch prompt, and what the model may answer: what is asked for, else by the cap of its role. `usual` is
 * the room by the cap.
 */
export function dispatchRoom(
  budget: PromptBudget,
  role: Role,
  asked: RequestedBudget = {},
): { readonly room: number; readonly usual: number; readonly outputTokens: number } {
  const outputTokens = asked.outputTokens ?? budget.maxOutputTokens;
  const usual = Math.max(0, budget.caps[role] - outputTokens);
  return { room: asked.inputTokens ?? usual, usual, outputTokens };
}

/** The error for a prompt of which not even the essentials fit. */
export function promptOverflow(what: string, tokens: number, room: number): ThroughlineError {
  return new ThroughlineError(
    'prompt_overflow',
    `${what} needs ${tokens} tokens for what must not be left out, ${tokens - room} more than the ${room} that it has. ` +
      `Raise budget.inputTokens (--room) to at least ${tokens}, ` +
      'or shorten taskPrompt (--prompt), systemPrompt, template (--template) or extra (--extra)',
    { details: { tokens, room, over: tokens - room } },
  );
}
