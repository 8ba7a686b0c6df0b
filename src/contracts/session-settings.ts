import { z } from 'zod';

/**
 * Settings of a session. They shape its prompts, so its log records them, not the environment of a process: every
 * process compiles the same bytes from the same log. `session-open` and `run.init` record them; what is left out keeps the
 * value that it had.
 */

/** Signs that a task is stalled; see `src/ledger/stall.ts`. */
export const STALL_SIGNALS = ['non_progress', 'ping_pong', 'same_fixes', 'same_test', 'same_files'] as const;
export type StallSignal = (typeof STALL_SIGNALS)[number];

/** `approximate`: four characters a token. `o200k_base`: exact for many models, and slower. */
export const TOKENIZERS = ['approximate', 'o200k_base'] as const;
export type TokenizerName = (typeof TOKENIZERS)[number];

const whole = (low: number, high: number) =>
  z.int(`must be a whole number`).min(low, `must be at least ${low}`).max(high, `must be at most ${high}`);

export const sessionSettings = z
  .strictObject({
    implementerTokens: whole(100, 10_000_000)
      .optional()
      .describe("Tokens of an implementer's prompt and answer together."),
    reviewerTokens: whole(100, 10_000_000)
      .optional()
      .describe("Tokens of a reviewer's prompt and answer together."),
    maxOutputTokens: whole(0, 1_000_000).optional().describe('Tokens left for the answer.'),
    tokenizer: z
      .enum(TOKENIZERS)
      .optional()
      .describe('How tokens are counted: four characters a token, or exactly and slower.'),
    boardFollowsResults: z
      .boolean('must be true or false')
      .optional()
      .describe('Whether a result of a board task moves that task. Default: it does.'),
    stallThresholds: z
      .partialRecord(z.enum(STALL_SIGNALS), whole(1, 9999))
      .optional()
      .describe('Count at which each sign that a task is stalled raises its flag.'),
  })
  .meta({
    id: 'SessionSettings',
    description: 'Settings of a session, which shape its prompts; what is left out keeps its value.',
  });

export type SessionSettings = z.output<typeof sessionSettings>;
