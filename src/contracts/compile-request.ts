import { z } from 'zod';
import { timestamp } from './event.js';
import { FACT_TAGS } from './fact-tags.js';
import { ROLES } from './kinds.js';
import { maxLearnings, minSimilarity } from './learning-requests.js';
import type { CompileReply, DispatchReply } from './replies/compile-reply.js';
import { taskId } from './results.js';
import { sessionName } from './session-name.js';
import { between, text, untrimmed } from './tool-shape.js';

const DEFAULT_MAX_FILES = 10;

const sequence = z.int().positive('must be a sequence, 1 or more').describe('A sequence.');

const tags = z.array(z.enum(FACT_TAGS)).max(20, 'must be at most 20 tags');
const binary = untrimmed(1024)
  .default('throughline')
  .describe('The command that the prompt tells its reader to use.');
const taskPrompt = untrimmed(200_000).describe('What is to be done: it chooses facts, files and learnings.');

const hintedPath = untrimmed(1024);

const fileFields = {
  maxFiles: between(0, 50)
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
  project: text(64).optional().describe("The project whose learnings to use, instead of the session's own."),
};

const room = between(1, 2_000_000).optional();

const budgetFields = {
  budget: z
    .object({
      inputTokens: room.describe('Tokens of the whole prompt, system text included.'),
      outputTokens: room.describe('Tokens of the answer: a dispatch prompt says it to the agent.'),
    })
    .optional()
    .describe('How many tokens prompt and answer may have; by default the settings of the session say.'),
  maxTokens: between(0, 1_000_000)
    .optional()
    .describe(
      'Maximum number of tokens of session context and learnings together, four characters a token; by default as many as fit.',
    ),
};

const common = {
  session: sessionName,
  ...learningFields,
  ...fileFields,
  ...budgetFields,
  tags: tags.optional().describe('Only facts that carry one of these.'),
  maxFacts: between(0, 1000)
    .optional()
    .describe('Maximum number of facts; by default as many as there is room for.'),
  fill: z
    .enum(['relevant', 'recent'])
    .optional()
    .describe(
      'Whether only facts that fit the task are shown, or also others in the room that is left: those that fit a little, then the newest. By default recent; with maxFacts, relevant.',
    ),
  binary,
  after: sequence
    .optional()
    .describe(
      "A DISPATCH sequence, from a publisher's PubAck: the prompt reflects that dispatch, or the reply is an error.",
    ),
  afterTimeoutMs: between(0, 600_000)
    .optional()
    .describe(
      'Longest wait for after, in milliseconds: less than what the caller waits for its answer. The service has a limit of its own.',
    ),
  asOf: sequence
    .optional()
    .describe('A session sequence: the prompt as it was when that event was the last.'),
  activeIntentId: text(128)
    .optional()
    .describe('The active intent: the compacted history of its trace goes before the prompt.'),
  explain: z
    .boolean()
    .default(false)
    .describe('Adds to each fact where it comes from and why it was chosen.'),
};

const dispatchRequest = z
  .object({
    kind: z
      .literal('dispatch')
      .optional()
      .default('dispatch')
      .describe('The kind of the prompt; dispatch where it is left out.'),
    ...common,
    taskId,
    taskPrompt,
    role: z.enum(ROLES).default(ROLES[0]).describe('The role of the agent.'),
    systemPrompt: untrimmed(200_000)
      .optional()
      .describe('Your own system text, instead of the built-in one of the role.'),
  })
  .meta({ id: 'DispatchRequest', description: 'Asks for the prompt of one task.' });

const now = timestamp
  .optional()
  .describe(
    'The time at which the prompt is read, ISO 8601 in UTC: it then says how long ago things were, and otherwise does not.',
  );

const iterationRequest = z
  .object({
    kind: z.literal('iteration').describe('The kind of the prompt; dispatch where it is left out.'),
    ...common,
    taskPrompt: taskPrompt.optional(),
    taskId: taskId.optional(),
    template: untrimmed(100_000).optional().describe('Your own template, instead of the built-in one.'),
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
    taskPrompt: taskPrompt.optional(),
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

/** Requests to `prompt.past` are not counted, and their prompts are not kept. */
export const pastPromptRequest = compileRequest.refine((request) => request.asOf !== undefined, {
  message: 'is missing: give the session sequence that the prompt is to reflect',
  path: ['asOf'],
});

/** The input of a prompt request. */
export type CompileRequestInput =
  | z.input<typeof dispatchRequest>
  | z.input<typeof iterationRequest>
  | z.input<typeof sessionStartRequest>;
export type CompileRequest = DispatchRequest | IterationRequest | SessionStartRequest;
export type DispatchRequest = z.output<typeof dispatchRequest>;
export type IterationRequest = z.output<typeof iterationRequest>;
/** Files and folder that an agent works in. */
export type CompileHints = NonNullable<DispatchRequest['hints']>;
export type SessionStartRequest = z.output<typeof sessionStartRequest>;

/** The reply to a request, by its kind. */
export type CompileReplyTo<Request extends CompileRequestInput> = Request extends {
  readonly kind: infer Kind;
}
  ? Extract<CompileReply, { readonly kind: Kind }>
  : DispatchReply;
