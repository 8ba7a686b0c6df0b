import { z } from 'zod';
import { compileRequest, pastPromptRequest } from './compile-request.js';
import { ROLES } from './kinds.js';
import { compileReply, LEFT_OUT } from './replies/compile-reply.js';
import { cursor, limit, ofSession, query, text } from './request-row.js';
import {
  count,
  list,
  mark,
  named,
  next,
  type Output,
  oneOf,
  place,
  string,
  strings,
  time,
  vectors,
} from './schema-fields.js';

/** The trace of a compiled prompt, without its text: `prompt.past` compiles it again from `request`. */

const briefFields = {
  id: string('Id of the prompt.'),
  at: time('When it was compiled'),
  kind: oneOf('The kind of the prompt.', ['dispatch', 'iteration', 'session-start']),
  task: string('The task that it is for.').exactOptional(),
  role: oneOf('The role of the agent that it is for.', ROLES).exactOptional(),
  sequence: place('The session sequence that it reflects.'),
  tokens: count('Tokens of the prompt.'),
  hash: string('The first 16 hexadecimal digits of the SHA-256 of the whole prompt.'),
};

export const promptTraceBrief = named('PromptTraceBrief', 'A prompt that was compiled.', briefFields);

const shownFact = named('TracedFact', 'A fact that a compiled prompt showed.', {
  id: string('Id of the fact.'),
  score: z.number().describe("Share of the query's words that it contains, 0 to 1."),
});

const leftFact = named('TracedLeftFact', 'A fact that a compiled prompt left out.', {
  ...shownFact.shape,
  why: oneOf("Why the prompt does not show it, as in a fact's `left`.", LEFT_OUT),
});

const promptTraceFields = {
  ...briefFields,
  prefixHash: string("Hash of the role's stable part; only of a dispatch prompt.").exactOptional(),
  room: count('Token budget.'),
  dropped: count('Items left out, in all sections.'),
  durationMs: z.number().describe('Time from request to reply, in milliseconds.'),
  factsShown: count('How many facts it shows.'),
  factsTotal: count('Valid facts that the session held.'),
  facts: list('The facts shown, in the order of the prompt.', shownFact),
  left: list('The best facts that were left out, at most 10.', leftFact),
  learnings: strings('Ids of the learnings shown.'),
  vectors,
  learningsSequence: place('The project sequence that the learnings reflect.').exactOptional(),
  cut: mark('The stored request was truncated or redacted: compiling again may differ.'),
};

export const promptTrace = named(
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

export type PromptTraceBrief = Output<typeof promptTraceBrief>;
export type PromptTrace = Output<typeof promptTrace>;
export type KeptPrompt = Output<typeof keptPrompt>;

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
    {
      task: text(128).optional().describe('Only prompts of this task.'),
      limit: limit(200, 50),
      cursor,
    },
    z.object({
      prompts: list('The newest first, of the newest 200 of the session.', promptTrace),
      total: count('How many of them are kept, on all pages.'),
      next,
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
