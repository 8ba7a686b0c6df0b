import { z } from 'zod';
import { timestamp } from './event.js';
import { FACT_TAGS } from './fact-tags.js';
import { ROLES } from './kinds.js';
import { maxLearnings, minSimilarity } from './learning-requests.js';
import type { CompileReply, DispatchReply } from './replies/compile-reply.js';
import { taskId } from './results.js';
import { sessionName } from './session-name.js';

/** `prompt.compile`: the request. */

const DEFAULT_MAX_FILES = 10;
/** More than any model reads. */
const MAX_ROOM = 2_000_000;

const sequence = z.int().positive('must be a sequence, 1 or more').describe('A sequence.');

const tags = z.array(z.enum(FACT_TAGS)).max(20, 'must be at most 20 tags');
const binary = z
  .string()
  .min(1, 'must not be empty')
  .max(1024, 'must be at most 1024 characters')
  .default('throughline')
  .describe('The command that the prompt tells its reader to use.');
const taskPrompt = z
  .string()
  .min(1, 'must not be empty')
  .max(200_000, 'must be at most 200000 characters')
  .describe('What is to be done: it chooses facts, files and learnings.');

const hintedPath = z.string().min(1, 'must not be empty').max(1024, 'must be at most 1024 characters');

/** What chooses among the files of a session, beside the words of the task. */
const fileFields = {
  maxFiles: z
    .int()
    .min(0, 'must be 0 to 50')
    .max(50, 'must be 0 to 50')
    .default(DEFAULT_MAX_FILES)
    .describe('Maximum number of files that the task will likely touch.'),
  hints: z
    .object({
      files: z
        .array(hintedPath)
        .max(50, 'must be at most 50 files')
        .optional()
        .describe('Files that are open, relative to the project or absolute.'),
      cwd: hintedPath
        .optional()
        .describe('The folder in which the agent works, relative to the project or absolute.'),
    })
    .optional()
    .describe('Where the agent works: raises the files that touch it.'),
};

/** What chooses among the learnings of a project. */
const learningFields = {
  maxLearnings: maxLearnings
    .optional()
    .describe(
      'Maximum number of learnings: by default 3 for a dispatch, 5 for an iteration whose template shows them and for a session start. Only those that fit the task; a session start shows the newest where none fits.',
    ),
  minSimilarity: minSimilarity
    .optional()
    .describe('Minimum similarity of learnings that are found by meaning; there is a default.'),
  learningsAsOf: z
    .int()
    .nonnegative('must be a sequence, 0 or more')
    .optional()
    .describe(
      'A project sequence, from learningsSequence of a reply: the learnings as they were then; 0 for none.',
    ),
  project: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(64, 'must be at most 64 characters')
    .optional()
    .describe("The project whose learnings to use, instead of the session's own."),
};

const room = z.int().min(1, 'must be 1 to 2000000').max(MAX_ROOM, 'must be 1 to 2000000').optional();

/** What chooses how long a prompt may be. */
const budgetFields = {
  budget: z
    .object({
      inputTokens: room.describe('Tokens of the whole prompt, system text included.'),
      outputTokens: room.describe('Tokens of the answer: a dispatch prompt says it to the agent.'),
    })
    .optional()
    .describe('How many tokens prompt and answer may have; by default the settings of the session say.'),
  maxTokens: z
    .int()
    .min(0, 'must be 0 to 1000000')
    .max(1_000_000, 'must be 0 to 1000000')
    .optional()
    .describe(
      'Maximum number of tokens of session context and learnings together, four characters a token; by default as many as fit.',
    ),
};

/** Fields of every kind of prompt. */
const common = {
  session: sessionName,
  ...learningFields,
  ...fileFields,
  ...budgetFields,
  tags: tags.optional().describe('Only facts that carry one of these.'),
  maxFacts: z
    .int()
    .min(0, 'must be 0 to 1000')
    .max(1000, 'must be 0 to 1000')
    .optional()
    .describe('Maximum number of facts; by default as many as there is room for.'),
  fill: z
    .enum(['relevant', 'recent'])
    .optional()
    .describe(
      'Whether only facts that fit the task are shown, or also others in the room that is left: those that fit a little, then the newest. By default recent; with maxFacts, relevant.',
    ),
  /** The command that the prompt tells agents to use. */
  binary,
  after: sequence
    .optional()
    .describe(
      "A DISPATCH sequence, from a publisher's PubAck: the prompt reflects that dispatch, or the reply is an error.",
    ),
  afterTimeoutMs: z
    .int()
    .min(0, 'must be 0 to 600000')
    .max(600_000, 'must be 0 to 600000')
    .optional()
    .describe(
      'Longest wait for after, in milliseconds: less than what the caller waits for its answer. The service has a limit of its own.',
    ),
  asOf: sequence
    .optional()
    .describe('A session sequence: the prompt as it was when that event was the last.'),
  activeIntentId: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(128, 'must be at most 128 characters')
    .optional()
    .describe('The active intent: the compacted history of its trace goes before the prompt.'),
  explain: z
    .boolean()
    .default(false)
    .describe('Adds to each fact where it comes from and why it was chosen.'),
};

const dispatchRequest = z
  .object({
    // The kind of a request that names none.
    kind: z
      .literal('dispatch')
      .optional()
      .default('dispatch')
      .describe('The kind of the prompt; dispatch where it is left out.'),
    ...common,
    taskId,
    /** What the next agent is asked to do; the facts are chosen by its words. */
    taskPrompt,
    role: z.enum(ROLES).default(ROLES[0]).describe('The role of the agent.'),
    systemPrompt: z
      .string()
      .min(1, 'must not be empty')
      .max(200_000, 'must be at most 200000 characters')
      .optional()
      .describe('Your own system text, instead of the built-in one of the role.'),
  })
  .meta({ id: 'DispatchRequest', description: 'Asks for the prompt of one task.' });

/** The time at which a prompt is read, ISO 8601 in UTC: it then says how long ago things were, and otherwise does not. */
const now = timestamp
  .optional()
  .describe(
    'The time at which the prompt is read, ISO 8601 in UTC: it then says how long ago things were, and otherwise does not.',
  );

const iterationRequest = z
  .object({
    kind: z.literal('iteration').describe('The kind of the prompt; dispatch where it is left out.'),
    ...common,
    /** Chooses the facts; by default the session's goal and its ready tasks do. */
    taskPrompt: taskPrompt.optional(),
    taskId: taskId.optional(),
    template: z
      .string()
      .min(1, 'must not be empty')
      .max(100_000, 'must be at most 100000 characters')
      .optional()
      .describe('Your own template, instead of the built-in one.'),
    now,
    extra: z
      .string()
      .max(50_000, 'must be at most 50000 characters')
      .optional()
      .describe('Text at the end of the prompt.'),
  })
  .meta({ id: 'IterationRequest', description: 'Asks for the prompt of one iteration.' });

const sessionStartRequest = z
  .object({
    kind: z.literal('session-start').describe('The kind of the prompt; dispatch where it is left out.'),
    session: common.session,
    ...learningFields,
    ...fileFields,
    ...budgetFields,
    after: common.after,
    afterTimeoutMs: common.afterTimeoutMs,
    asOf: common.asOf,
    now,
    branch: z
      .string()
      .max(255, 'must be at most 255 characters')
      .optional()
      .describe('The git branch that the agent works on: what was done on it comes first.'),
    /** Chooses facts and files; without it there are none. */
    taskPrompt: taskPrompt.optional(),
    /** The command that the prompt tells people to use. */
    binary,
    explain: common.explain,
  })
  .meta({ id: 'SessionStartRequest', description: 'Asks for what an agent reads first in a session.' });

export const compileRequest = z
  .discriminatedUnion('kind', [dispatchRequest, iterationRequest, sessionStartRequest])
  .refine((request) => request.after === undefined || request.asOf === undefined, {
    message: 'cannot be combined with after: asOf asks for the past, after for the newest',
    path: ['asOf'],
  });

/** `prompt.past`: the same for the past alone, which is neither counted nor kept. */
export const pastPromptRequest = compileRequest.refine((request) => request.asOf !== undefined, {
  message: 'is missing: give the session sequence that the prompt is to reflect',
  path: ['asOf'],
});

/** A request as a caller writes it. */
export type CompileRequestInput =
  | z.input<typeof dispatchRequest>
  | z.input<typeof iterationRequest>
  | z.input<typeof sessionStartRequest>;
/** A request with its defaults filled in. */
export type CompileRequest = DispatchRequest | IterationRequest | SessionStartRequest;
export type DispatchRequest = z.output<typeof dispatchRequest>;
export type IterationRequest = z.output<typeof iterationRequest>;
/** Where an agent works. */
export type CompileHints = NonNullable<DispatchRequest['hints']>;
export type SessionStartRequest = z.output<typeof sessionStartRequest>;

/** The reply to a request, by its kind. */
export type CompileReplyTo<Request extends CompileRequestInput> = Request extends {
  readonly kind: infer Kind;
}
  ? Extract<CompileReply, { readonly kind: Kind }>
  : DispatchReply;
