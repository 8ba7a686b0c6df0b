import { z } from 'zod';
import { timestamp } from './event.js';
import { FACT_TAGS } from './fact-tags.js';
import { ROLES } from './kinds.js';
import { maxLearnings, minSimilarity } from './learning-requests.js';
import type { CompileReply, DispatchReply } from './replies/compile-reply.js';
import { taskId } from './results.js';

/** `prompt.compile`: the request. */

const DEFAULT_MAX_FACTS = 10;
const DEFAULT_MAX_FILES = 10;
/** More than any model reads. */
const MAX_ROOM = 2_000_000;

const sequence = z.int().positive('must be a sequence, 1 or more');

const tags = z.array(z.enum(FACT_TAGS)).max(20, 'must be at most 20 tags');
const binary = z
  .string()
  .min(1, 'must not be empty')
  .max(1024, 'must be at most 1024 characters')
  .default('throughline');
const taskPrompt = z.string().min(1, 'must not be empty').max(200_000, 'must be at most 200000 characters');

const hintedPath = z.string().min(1, 'must not be empty').max(1024, 'must be at most 1024 characters');

/** What chooses among the files of a session, beside the words of the task. */
const fileFields = {
  /** Maximum number of files that the task will likely touch. */
  maxFiles: z.int().min(0, 'must be 0 to 50').max(50, 'must be 0 to 50').default(DEFAULT_MAX_FILES),
  /** Where the agent works: raises the files that touch it. */
  hints: z
    .object({
      /** Files that are open, relative to the project or absolute. */
      files: z.array(hintedPath).max(50, 'must be at most 50 files').optional(),
      /** The folder in which the agent works, relative to the project or absolute. */
      cwd: hintedPath.optional(),
    })
    .optional(),
};

/** What chooses among the learnings of a project. */
const learningFields = {
  /**
   * Maximum number of learnings: by default 3 for a dispatch, 5 for an iteration whose template shows them and for a
   * session start. Only those that fit the task; a session start shows the newest where none fits.
   */
  maxLearnings: maxLearnings.optional(),
  /** Minimum similarity of learnings that are found by meaning; there is a default. */
  minSimilarity: minSimilarity.optional(),
  /** A project sequence, from `learningsSequence` of a reply: the learnings as they were then. */
  learningsAsOf: sequence.optional(),
  /** The project whose learnings to use, instead of the session's own. */
  project: z.string().trim().min(1, 'must not be empty').max(64, 'must be at most 64 characters').optional(),
};

const room = z.int().min(1, 'must be 1 to 2000000').max(MAX_ROOM, 'must be 1 to 2000000').optional();

/** What chooses how long a prompt may be. */
const budgetFields = {
  /** How many tokens prompt and answer may have; by default the settings of the session say. */
  budget: z
    .object({
      /** Tokens of the whole prompt, system text included. */
      inputTokens: room,
      /** Tokens of the answer: a dispatch prompt says it to the agent. */
      outputTokens: room,
    })
    .optional(),
  /** Maximum number of tokens of session context and learnings together, four characters a token; by default as many as fit. */
  maxTokens: z.int().min(0, 'must be 0 to 1000000').max(1_000_000, 'must be 0 to 1000000').optional(),
};

/** Fields of every kind of prompt. */
const common = {
  /** The session to remember. */
  session: z.string(),
  ...learningFields,
  ...fileFields,
  ...budgetFields,
  /** Only facts that carry one of these. */
  tags: tags.optional(),
  maxFacts: z.int().min(0, 'must be 0 to 1000').max(1000, 'must be 0 to 1000').default(DEFAULT_MAX_FACTS),
  /** What becomes of facts that match nothing: left out, or the newest shown while there are less than `maxFacts`. */
  fill: z.enum(['relevant', 'recent']).default('relevant'),
  /** The command that the prompt tells agents to use. */
  binary,
  /** A `DISPATCH` sequence, from a publisher's PubAck: the prompt reflects that dispatch, or the reply is an error. */
  after: sequence.optional(),
  /** Longest wait for `after`, in milliseconds: less than what the caller waits for its answer. The service has a limit of its own. */
  afterTimeoutMs: z.int().min(0, 'must be 0 to 600000').max(600_000, 'must be 0 to 600000').optional(),
  /** A session sequence: the prompt as it was when that event was the last. */
  asOf: sequence.optional(),
  /** The active intent: the compacted history of its trace goes before the prompt. */
  activeIntentId: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(128, 'must be at most 128 characters')
    .optional(),
  /** Adds to each fact where it comes from and why it was chosen. */
  explain: z.boolean().default(false),
};

const dispatchRequest = z.object({
  // The kind of a request that names none.
  kind: z.literal('dispatch').optional().default('dispatch'),
  ...common,
  taskId,
  /** What the next agent is asked to do; the facts are chosen by its words. */
  taskPrompt,
  role: z.enum(ROLES).default(ROLES[0]),
  /** Your own system text, instead of the built-in one of the role. */
  systemPrompt: z
    .string()
    .min(1, 'must not be empty')
    .max(200_000, 'must be at most 200000 characters')
    .optional(),
});

/** The time at which a prompt is read, ISO 8601 in UTC: it then says how long ago things were, and otherwise does not. */
const now = timestamp.optional();

const iterationRequest = z.object({
  kind: z.literal('iteration'),
  ...common,
  /** Chooses the facts; by default the session's goal and its ready tasks do. */
  taskPrompt: taskPrompt.optional(),
  taskId: taskId.optional(),
  /** Your own template, instead of the built-in one. */
  template: z
    .string()
    .min(1, 'must not be empty')
    .max(100_000, 'must be at most 100000 characters')
    .optional(),
  now,
  /** Text at the end of the prompt. */
  extra: z.string().max(50_000, 'must be at most 50000 characters').optional(),
});

const sessionStartRequest = z.object({
  kind: z.literal('session-start'),
  session: common.session,
  ...learningFields,
  ...fileFields,
  ...budgetFields,
  after: common.after,
  afterTimeoutMs: common.afterTimeoutMs,
  asOf: common.asOf,
  now,
  /** Chooses learnings, facts and files; by default the session's goal and its ready tasks do. */
  taskPrompt: taskPrompt.optional(),
  /** The command that the prompt tells people to use. */
  binary,
  explain: common.explain,
});

export const compileRequest = z
  .discriminatedUnion('kind', [dispatchRequest, iterationRequest, sessionStartRequest])
  .refine((request) => request.after === undefined || request.asOf === undefined, {
    message: 'cannot be combined with after: asOf asks for the past, after for the newest',
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
/** How many tokens prompt and answer may have. */
export type RequestedBudget = NonNullable<DispatchRequest['budget']>;
export type SessionStartRequest = z.output<typeof sessionStartRequest>;

/** The reply to a request, by its kind. */
export type CompileReplyTo<Request extends CompileRequestInput> = Request extends {
  readonly kind: infer Kind;
}
  ? Extract<CompileReply, { readonly kind: Kind }>
  : DispatchReply;
