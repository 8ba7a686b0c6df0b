import { z } from 'zod';
import { ROLES } from '../kinds.js';
import {
  count,
  list,
  mark,
  named,
  type Output,
  oneOf,
  place,
  string,
  strings,
  time,
  vectors,
} from '../schema-fields.js';
import { LEFT_OUT } from './compile-reply.js';

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
  id: string('Id of the fact.'),
  score: z.number().describe("Share of the query's words that it contains, 0 to 1."),
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
