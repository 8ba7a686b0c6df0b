/** How a prompt was made to fit, from nothing left out to only what must not be lost. */
export const COMPACTION_STAGES = ['none', 'pruned', 'shortened', 'minimal'] as const;
export type CompactionStage = (typeof COMPACTION_STAGES)[number];

/** What the budget did to a prompt. */
export interface BudgetReport {
  readonly stage: CompactionStage;
  /** Tokens that prompt and system text may have together. */
  readonly inputTokens: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Name of the tokenizer that counted. */
  readonly tokenizer: string;
}
