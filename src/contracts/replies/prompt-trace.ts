import { z } from 'zod';
import { ROLES } from '../kinds.js';
import { count, next, place, type Told, time } from './page-fields.js';

/** The trace of a compiled prompt, without its text: `prompt.past` compiles it again from `request`. */

const briefFields = {
  id: z.string().describe('Id of the prompt.'),
  at: time('When it was compiled'),
  kind: z.enum(['dispatch', 'iteration', 'session-start']).describe('The kind of the prompt.'),
  task: z.string().exactOptional().describe('The task that it is for.'),
  role: z.enum(ROLES).exactOptional().describe('The role of the agent that it is for.'),
  sequence: place('The session sequence that it reflects.'),
  tokens: count('Tokens of the prompt.'),
  hash: z.string().describe('The first 16 hexadecimal digits of the SHA-256 of the whole prompt.'),
};

export const promptTraceBrief = z
  .object(briefFields)
  .meta({ id: 'PromptTraceBrief', description: 'A prompt that was compiled.' });

const shownFact = z
  .object({
    id: z.string().describe('Id of the fact.'),
    score: z.number().describe("Share of the query's words that it contains, 0 to 1."),
  })
  .meta({ id: 'TracedFact', description: 'A fact that a compiled prompt showed.' });

const leftFact = z
  .object({
    id: z.string().describe('Id of the fact.'),
    score: z.number().describe("Share of the query's words that it contains, 0 to 1."),
    why: z
      .enum(['rank', 'near-duplicate', 'one task', 'held', 'likely file', 'budget'])
      .describe('Why the prompt does not show it, in the words of `left` of a considered fact.'),
  })
  .meta({ id: 'TracedLeftFact', description: 'A fact that a compiled prompt left out.' });

const promptTraceFields = {
  ...briefFields,
  prefixHash: z
    .string()
    .exactOptional()
    .describe('Hash of the part that stays the same for a role; only of a dispatch prompt.'),
  room: count('Token budget.'),
  dropped: count('Items left out, in all sections.'),
  durationMs: z.number().describe('Time from request to reply, in milliseconds.'),
  factsShown: count('How many facts it shows.'),
  factsTotal: count('Valid facts that the session held.'),
  facts: z.array(shownFact).describe('The facts shown, in the order of the prompt.'),
  left: z.array(leftFact).describe('The best facts that were left out, at most 10.'),
  learnings: z.array(z.string()).describe('Ids of the learnings shown.'),
  method: z
    .enum(['semantic', 'lexical'])
    .exactOptional()
    .describe('How more than 40 decisions were ordered: by meaning, or by words alone.'),
  learningsSequence: place('The project sequence that the learnings reflect.').exactOptional(),
  cut: z
    .literal(true)
    .exactOptional()
    .describe('Set if the stored request was truncated or redacted: compiled again, the prompt may differ.'),
};

const promptTrace = z
  .object(promptTraceFields)
  .meta({ id: 'PromptTrace', description: 'A prompt that was compiled, with what it showed and left out.' });

/** Adds the request to send to `prompt.past`. */
export const keptPrompt = z.object({
  ...promptTraceFields,
  session: z.string(),
  request: z.record(z.string(), z.unknown()),
});

export const PROMPT_REPLIES = {
  'prompt-list': z.object({
    prompts: z.array(promptTrace).describe('The newest first, of the newest 200 of the session.'),
    total: count('How many of them are kept, on all pages.'),
    next,
  }),
  'prompt-show': z.object({
    prompt: promptTrace.describe('The prompt.'),
    request: z
      .record(z.string(), z.unknown().describe('Any JSON value.'))
      .describe('The request with `asOf`, to be sent to prompt.past: its reply is the prompt as it was.'),
  }),
} as const;

export type PromptTraceBrief = Told<typeof promptTraceBrief>;
export type PromptTrace = Told<typeof promptTrace>;
export type KeptPrompt = Told<typeof keptPrompt>;
