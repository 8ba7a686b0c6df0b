import { z } from 'zod';
import { compileRequest, pastPromptRequest } from './compile-request.js';
import { ROLES } from './kinds.js';
import { compileReply, LEFT_OUT, ledgerReport } from './replies/compile-reply.js';
import { cursor, limit, ofSession, query, text } from './request-row.js';
import * as f from './schema-fields.js';

/** The trace of a compiled prompt, without its text: `prompt.past` compiles it again from `request`. */

const briefFields = {
  id: f.string('Id of the prompt.'),
  at: f.time('When it was compiled'),
  kind: f.oneOf('The kind of the prompt.', ['dispatch', 'iteration', 'session-start']),
  task: f.string('The task that it is for.').exactOptional(),
  role: f.oneOf('The role of the agent that it is for.', ROLES).exactOptional(),
  sequence: f.place('The session sequence that it reflects.'),
  tokens: f.count('Tokens of the prompt.'),
  hash: f.string('The first 16 hexadecimal digits of the SHA-256 of the whole prompt.'),
};

export const promptTraceBrief = f.named('PromptTraceBrief', 'A prompt that was compiled.', briefFields);

const shownFact = f.named('TracedFact', 'A fact that a compiled prompt showed.', {
  id: f.string('Id of the fact.'),
  score: z.number().describe("Share of the query's words that it contains, 0 to 1."),
});

const leftFact = f.named('TracedLeftFact', 'A fact that a compiled prompt left out.', {
  ...shownFact.shape,
  why: f.oneOf("Why the prompt does not show it, as in a fact's `left`.", LEFT_OUT),
});

const promptTraceFields = {
  ...briefFields,
  prefixHash: f.string("Hash of the role's stable part; only of a dispatch prompt.").exactOptional(),
  room: f.count('Token budget.'),
  wanted: f.count('Tokens if nothing had been left out.').exactOptional(),
  ledger: ledgerReport.describe('Progress data it was made from; only of a dispatch prompt.').exactOptional(),
  dropped: f.count('Items left out, in all sections.'),
  durationMs: z.number().describe('Time from request to reply, in milliseconds.'),
  factsShown: f.count('How many facts it shows.'),
  factsTotal: f.count('Valid facts that the session held.'),
  facts: f.list('The facts shown, in the order of the prompt.', shownFact),
  left: f.list('The best facts that were left out, at most 10.', leftFact),
  learnings: f.strings('Ids of the learnings shown.'),
  vectors: f.vectors,
  learningsSequence: f.place('The project sequence that the learnings reflect.').exactOptional(),
  cut: f.mark('The stored request was truncated or redacted: compiling again may differ.'),
};

export const promptTrace = f.named(
  'PromptTrace',
  'A prompt that was compiled, with what it showed and left out.',
  promptTraceFields,
);

/** Adds the request to send to `prompt.past`. */
export const keptPrompt = z.object({
  ...promptTraceFields,
  session: z.string(),
  request: z.record(z.string(), z.unknown()),
});

export type PromptTraceBrief = f.Output<typeof promptTraceBrief>;
export type PromptTrace = f.Output<typeof promptTrace>;
export type KeptPrompt = f.Output<typeof keptPrompt>;

export const PROMPT_REQUESTS = {
  'prompt.compile': ofSession(false, 'compile the next prompt', 'prompt', compileRequest, compileReply),
  // A normal compile is counted and stored as if for an agent.
  'prompt.past': ofSession(
    true,
    'compile a prompt as it was; it is neither counted nor kept',
    'prompt show',
    pastPromptRequest,
    compileReply,
  ),
  'tool.prompt-list': query(
    'the prompts that were compiled last, the newest first',
    { cli: 'prompt ls', example: { task: '2.1' } },
    { task: text(128).optional().describe('Only prompts of this task.'), limit: limit(200, 50), cursor },
    z.object({
      prompts: f.list('The newest first, of the newest 200 of the session.', promptTrace),
      total: f.count('How many of them are kept, on all pages.'),
      next: f.next,
    }),
  ),
  'tool.prompt-show': query(
    'show what a compiled prompt held, and the request to repeat it',
    { cli: 'prompt show', example: { id: '4f1c' } },
    { id: text(64).describe('Id of the prompt, from prompt-list.') },
    z.object({
      prompt: promptTrace.describe('The prompt.'),
      request: z
        .record(z.string(), z.unknown().describe('Any JSON value.'))
        .describe('The request for prompt.past, with `asOf`: it returns this prompt.'),
    }),
  ),
} as const;
