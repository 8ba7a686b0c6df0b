import { z } from 'zod';
import { timestamp } from './event.js';
import { DISPATCH_PARTS, FACT_TAGS, REPLY_PARTS, type ReplyPart, ROLES } from './kinds.js';
import { maxLearnings, minSimilarity } from './learning-requests.js';
import type { CompileReply, DispatchReply } from './replies/compile-reply.js';
import { between, sessionName, text, untrimmed } from './request-row.js';
import { taskId } from './results.js';
import { named, object } from './schema-fields.js';

const DEFAULT_MAX_FILES = 10;

const sequence = z.int().positive('must be a sequence, 1 or more').describe('A sequence.');

const tags = z.array(z.enum(FACT_TAGS)).max(20, 'must be at most 20 tags');
const binary = untrimmed(1024)
  .default('throughline')
  .describe('The command that the prompt tells its reader to use.');
const taskPrompt = untrimmed(200_000).describe(
  'The task of the agent. Its words select facts, files and learnings.',
);

const fileFields = {
  maxFiles: between(0, 50)
    .default(DEFAULT_MAX_FILES)
    .describe('Maximum number of files that the task will likely touch.'),
  hints: object('What the caller sees where the agent works.', {
    missing: z
      .array(untrimmed(1024))
      .max(50, 'must be at most 50 files')
      .optional()
      .describe('Files of a reply that do not exist where the agent works.'),
  }).optional(),
};

const learningFields = {
  maxLearnings: maxLearnings
    .optional()
    .describe('Maximum number of learnings. Default: 3; iteration and session start: 5.'),
  minSimilarity: minSimilarity.optional().describe('Minimum similarity of learnings found by meaning.'),
  learningsAsOf: z
    .int()
    .nonnegative('must be a sequence, 0 or more')
    .optional()
    .describe('A project sequence: the learnings as of then; 0 for none.'),
  project: text(64).optional().describe("The project whose learnings to use, instead of the session's own."),
};

const room = between(1, 2_000_000).optional();

const degraded = text(1000).optional().describe('Why the plan cannot be read. Default: found out.');

const budgetFields = {
  budget: object('Token budget of prompt and answer. Default: by kind and role.', {
    inputTokens: room.describe('Tokens of the whole prompt, system text included.'),
    outputTokens: room.describe('Tokens of the answer, left free of the budget.'),
  }).optional(),
  maxTokens: between(0, 1_000_000)
    .optional()
    .describe('Maximum tokens of facts and learnings. Default: as many as fit.'),
};

const including = <const Part extends ReplyPart>(parts: readonly Part[]) =>
  z
    .array(z.enum(parts))
    .max(20, 'must be at most 20 parts')
    .optional()
    .describe('Parts to add to the reply.');

const common = {
  session: sessionName,
  ...learningFields,
  ...fileFields,
  ...budgetFields,
  degraded,
  tags: tags.optional().describe('Only facts with one of these tags.'),
  maxFacts: between(0, 1000).optional().describe('Maximum number of facts. Default: as many as fit.'),
  binary,
  after: sequence.optional().describe('Waits until the result with this DISPATCH sequence has become facts.'),
  afterTimeoutMs: between(0, 600_000)
    .optional()
    .describe("Timeout of after in milliseconds, below the caller's own."),
  asOf: sequence.optional().describe('A session sequence: compiles the prompt as of that event.'),
  include: including(REPLY_PARTS),
  activeIntentId: text(128)
    .optional()
    .describe('The active intent: its compacted history is placed before the prompt.'),
  explain: z.boolean().default(false).describe('Includes every part of the reply.'),
};

const dispatchRequest = named('DispatchRequest', 'Asks for the prompt of one task.', {
  kind: z
    .literal('dispatch')
    .optional()
    .default('dispatch')
    .describe('The kind of the prompt. Default: dispatch.'),
  ...common,
  taskId,
  taskPrompt: taskPrompt.optional(),
  role: z.enum(ROLES).default(ROLES[0]).describe('The role of the agent.'),
  include: including(DISPATCH_PARTS),
  systemPrompt: untrimmed(200_000)
    .optional()
    .describe("Your own system text, instead of the role's built-in one."),
});

const now = timestamp.optional().describe('The present time, ISO 8601 in UTC: the prompt then says ages.');

const iterationRequest = named('IterationRequest', 'Asks for the prompt of one iteration.', {
  kind: z.literal('iteration').describe('The kind of the prompt. Default: dispatch.'),
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
});

const sessionStartRequest = named(
  'SessionStartRequest',
  'Asks for the prompt that an agent reads first in a session.',
  {
    kind: z.literal('session-start').describe('The kind of the prompt. Default: dispatch.'),
    session: common.session,
    ...learningFields,
    ...fileFields,
    ...budgetFields,
    degraded,
    after: common.after,
    afterTimeoutMs: common.afterTimeoutMs,
    asOf: common.asOf,
    now,
    branch: z
      .string()
      .max(255, 'must be at most 255 characters')
      .optional()
      .describe('The git branch of the agent: results on it rank first.'),
    taskPrompt: taskPrompt.optional(),
    binary,
    include: common.include,
    explain: common.explain,
  },
);

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

export function includes({ include, explain }: CompileRequest, part: ReplyPart): boolean {
  return explain || include?.some((included) => included === part) === true;
}

/** The reply to a request: of its kind, with the parts in `include`. Only learnings may be missing all the same. */
export type CompileReplyTo<Request extends object> = Request extends {
  readonly kind: infer Kind;
}
  ? Including<Extract<CompileReply, { readonly kind: Kind }>, Request>
  : Including<DispatchReply, Request>;

/** A reply with the parts that a request asks for. */
export type Including<Reply, Request> = Reply &
  Required<Pick<Reply, Exclude<Extract<keyof Reply, PartsOf<Request>>, 'learnings'>>>;
type PartsOf<Request> = Request extends { readonly explain: true }
  ? ReplyPart
  : Request extends { readonly include: readonly (infer Part)[] }
    ? Part
    : never;
