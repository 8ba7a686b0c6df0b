import type { BudgetReport, CompactionStage } from '../contracts/budget-report.js';
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

/** One way to write a prompt; candidates come from the fullest to the barest. */
export interface Candidate<Prompt> {
  readonly stage: CompactionStage;
  readonly prompt: Prompt;
}

/** Tokens that the input of a role may have. */
export function inputTokens(budget: PromptBudget, role: Role): number {
  return Math.max(0, budget.caps[role] - budget.maxOutputTokens);
}

/**
 * The first candidate that fits.
 *
 * @param text what is sent to the model, as one text
 * @throws ThroughlineError `prompt_overflow` when not even the barest one does
 */
export function firstFitting<Prompt>(
  candidates: Iterable<Candidate<Prompt>>,
  text: (prompt: Prompt) => string,
  role: Role,
  budget: PromptBudget,
): { readonly prompt: Prompt; readonly report: BudgetReport } {
  const room = inputTokens(budget, role);
  let before: number | undefined;
  let tokens = 0;
  for (const { stage, prompt } of candidates) {
    tokens = budget.tokenizer.count(text(prompt));
    before ??= tokens;
    if (tokens > room) continue;
    const { name } = budget.tokenizer;
    return {
      prompt,
      report: { stage, inputTokens: room, tokensBefore: before, tokensAfter: tokens, tokenizer: name },
    };
  }
  throw new ThroughlineError(
    'prompt_overflow',
    `the ${role} prompt needs ${tokens} tokens even when it holds only objective, blockers and required fixes; ` +
      `${room} are left for input. Shorten taskPrompt, or raise the cap of the role`,
    { details: { role, tokens, inputTokens: room } },
  );
}
