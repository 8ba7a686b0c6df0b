import { z } from 'zod';
import { eventOf } from './event.js';
import { sessionSettings } from './session-settings.js';

/** A run: a specification whose `tasks.md` is followed. Requests `run.init` and `run.status`, and their events. */

const TASK_LINES = ['pending', 'in-progress', 'completed'] as const;

/** What a task of a plan is, in one word: what its line says, unless it is blocked or given up. */
export const PLAN_STATUSES = [...TASK_LINES, 'blocked', 'cancelled'] as const;

const progressTask = z.object({
  id: z.string(),
  text: z.string(),
  status: z.enum(TASK_LINES),
  optional: z.literal(true).exactOptional(),
  /** Marked as waiting for something; the status is `pending`. */
  blocked: z.literal(true).exactOptional(),
  /** Given up: in no total. */
  cancelled: z.literal(true).exactOptional(),
  /** Its status comes from its parts: it is counted with them. */
  group: z.literal(true).exactOptional(),
  parent: z.string().exactOptional(),
  prompt: z.string().exactOptional(),
  requirements: z.array(z.string()).exactOptional(),
  /** Ids of tasks that must be done before it, as written; one of them need not exist. */
  dependsOn: z.array(z.string()).exactOptional(),
});

const planProblem = z.object({
  code: z.string(),
  line: z.number(),
  message: z.string(),
  /** The line is a task or part of one; what it is was read by a guess. */
  placed: z.literal(true).exactOptional(),
});

/** What was read from a `tasks.md`. */
export const tasksDocument = z.object({
  /** Modification time in milliseconds (0 for a pushed document), and a hash of the text. */
  fingerprint: z.object({ mtimeMs: z.number(), hash: z.string() }),
  tasks: z.array(progressTask),
  /** Lines that were not placed. Earlier versions counted those that were placed by a guess too. */
  problems: z.number(),
  /** Lines that were placed by a guess. Earlier versions counted tasks without an id too. */
  guesses: z.number().exactOptional(),
  /** Tasks without an id, which are named by their place or text. */
  unnamed: z.number().exactOptional(),
  /** The first reports of all three. Earlier versions kept only their number. */
  firstProblems: z.array(planProblem).exactOptional(),
  /** How many reports there are beyond these. */
  moreProblems: z.number().exactOptional(),
  /** Tasks of which a part did not fit: how many have a shortened text or prompt, or no requirements. */
  shortened: z
    .object({
      texts: z.number().exactOptional(),
      prompts: z.number().exactOptional(),
      requirements: z.number().exactOptional(),
    })
    .exactOptional(),
});

export type PlanProblem = z.output<typeof planProblem>;
export type ProgressTask = z.output<typeof progressTask>;
export type TasksDocument = z.output<typeof tasksDocument>;

/** Where the tasks come from: a file that the service reads, or a document that came with the request. */
export const tasksSource = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('file'), path: z.string() }),
  z.object({ kind: z.literal('document') }),
]);
export type TasksSource = z.output<typeof tasksSource>;

export const runEvents = [
  eventOf('run.initialized', {
    spec: z.string(),
    goal: z.string().exactOptional(),
    settings: sessionSettings.exactOptional(),
    source: tasksSource,
    document: tasksDocument,
  }),
  eventOf('progress.rebuilt', { document: tasksDocument }),
] as const;

const MAX_DOCUMENT = 800_000;

export const runInitRequest = z
  .object({
    session: z.string(),
    /** Name of the specification. Default: that of the run before, else a name made from the file's place. */
    spec: z.string().trim().min(1, 'must not be empty').max(200, 'must be at most 200 characters').optional(),
    /** Default: that of the run before. */
    goal: z
      .string()
      .trim()
      .min(1, 'must not be empty')
      .max(10_000, 'must be at most 10000 characters')
      .optional(),
    settings: sessionSettings.optional(),
    /** A file under one of the service's roots. */
    tasksPath: z.string().min(1, 'must not be empty').max(4096, 'must be at most 4096 characters').optional(),
    /** The document itself. */
    tasksText: z.string().max(MAX_DOCUMENT, `must be at most ${MAX_DOCUMENT} characters`).optional(),
  })
  .refine((request) => (request.tasksPath === undefined) !== (request.tasksText === undefined), {
    message: 'give either tasksPath, a file that the service can read, or tasksText, the document itself',
    path: ['tasksPath'],
  });

export type RunInitInput = z.input<typeof runInitRequest>;

export const runStatusRequest = z.object({ session: z.string() });
