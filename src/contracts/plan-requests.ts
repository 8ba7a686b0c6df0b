import { z } from 'zod';
import { eventOf } from './event.js';
import { sessionName, text, untrimmed } from './request-row.js';
import { list, mark, named, object, oneOf, string, strings } from './schema-fields.js';
import { sessionSettings } from './session-meta-events.js';

const TASK_LINES = ['pending', 'in-progress', 'completed'] as const;

/** The status of a plan task in one word: that of its line, unless it is blocked or cancelled. */
export const PLAN_STATUSES = [...TASK_LINES, 'blocked', 'cancelled'] as const;

export const progressTask = named('PlanLine', 'A task as it was read from a plan.', {
  id: string('Id of the task.'),
  text: string('The work to do.'),
  was: string('Its words when its first result came, if they have changed since.').exactOptional(),
  written: string('Its id in the file, if other words had that id before.').exactOptional(),
  status: oneOf('Its status.', TASK_LINES),
  optional: mark('Optional.'),
  blocked: mark('Marked as blocked; the status is pending.'),
  reason: string('Why it is blocked.').exactOptional(),
  cancelled: mark('Cancelled: not in any total.'),
  group: mark('Its status derives from its subtasks, and only they are counted.'),
  parent: string('Its parent task.').exactOptional(),
  prompt: string("The plan's own words about it, line by line.").exactOptional(),
  requirements: strings('Its requirements.').exactOptional(),
  dependsOn: strings('Ids of tasks to complete first, as written; some may be unknown.').exactOptional(),
});

export const planProblem = named('PlanProblem', 'A line of a plan that was not read, or by guess.', {
  code: string('Kind of the problem.'),
  line: z.int().describe('Number of the line, 1 for the first.'),
  message: string('The problem.'),
  placed: mark('The line was read by a guess.'),
});

/** Ids are never given to other words: what is known under this one is about these. */
export const leftTask = named('LeftTask', 'A task that the plan had in an earlier version.', {
  id: string('Its id.'),
  text: string('Its words.'),
  written: progressTask.shape.written,
});
export type LeftTask = z.output<typeof leftTask>;

export const tasksDocument = named('PlanDocument', 'The content of a plan.', {
  fingerprint: object('Version of the text.', {
    mtimeMs: z
      .number()
      .describe('Modification time in milliseconds; 0 for a document sent with the request.'),
    hash: string('Hash of the text.'),
  }),
  tasks: list('The tasks.', progressTask),
  left: list('Tasks of earlier versions, the newest last.', leftTask).exactOptional(),
  preamble: string('The text before the first task.').exactOptional(),
  requirementTexts: z
    .record(z.string(), z.string())
    .exactOptional()
    .describe('Texts of the named requirements, from the document beside the plan.'),
  design: string('Path of the design document beside the plan.').exactOptional(),
  problems: z.number().describe('Lines that could not be read.'),
  guesses: z.number().exactOptional().describe('Lines that were read by a guess.'),
  unnamed: z.number().exactOptional().describe('Tasks without an id, named by their position or text.'),
  firstProblems: list('The first of these problems.', planProblem).exactOptional(),
  moreProblems: z.number().exactOptional().describe('Number of further problems.'),
  shortened: object('Tasks shortened because the plan is so large.', {
    texts: z.number().exactOptional().describe('Tasks with a shortened text.'),
    prompts: z.number().exactOptional().describe('Tasks with a shortened prompt.'),
    preamble: z.number().exactOptional().describe('Characters of the preamble that were left out.'),
    requirementTexts: z.number().exactOptional().describe('Requirements with a shortened or missing text.'),
  }).exactOptional(),
});

export type PlanProblem = z.output<typeof planProblem>;
export type ProgressTask = z.output<typeof progressTask>;
export type TasksDocument = z.output<typeof tasksDocument>;

const sourceKind = <const Kind extends string>(kind: Kind) =>
  z.literal(kind).describe('A file that the service reads, or a document sent with requests.');

export const tasksSource = z
  .discriminatedUnion('kind', [
    z.object({ kind: sourceKind('file'), path: string('Path of the file.') }),
    z.object({ kind: sourceKind('document') }),
  ])
  .meta({ id: 'PlanSource', description: 'Where the tasks of a plan come from.' });
export type TasksSource = z.output<typeof tasksSource>;

export const runEvents = [
  eventOf('run.initialized', {
    spec: string('Name of the specification.'),
    goal: string('Goal of the run.').exactOptional(),
    settings: sessionSettings.exactOptional().describe('Settings of the session to record.'),
    source: tasksSource.describe('Where the tasks come from.'),
    document: tasksDocument.describe('The content of the plan.'),
  }),
  eventOf('run.ended', {}),
  eventOf('progress.rebuilt', { document: tasksDocument.describe('The content of the plan.') }),
] as const;

/** Names of the requirements document beside a plan: Kiro and spec-workflow, spec-kit. */
export const REQUIREMENTS_FILES = ['requirements.md', 'spec.md'] as const;
/** In characters, of both documents together: a request must fit one message. */
export const MAX_DOCUMENT = 800_000;
const documentText = z.string().max(MAX_DOCUMENT, `must be at most ${MAX_DOCUMENT} characters`);

export const runInitRequest = z
  .object({
    session: sessionName,
    spec: text(200)
      .optional()
      .describe('Name of the specification. Default: the previous name, otherwise from the path.'),
    goal: text(10_000).optional().describe('Goal of the run. Default: the previous goal.'),
    settings: sessionSettings.optional().describe('Settings of the session to record.'),
    tasksPath: untrimmed(4096)
      .optional()
      .describe("A file under one of the service's roots; excludes tasksText."),
    tasksText: documentText.optional().describe('The document itself. Give this or tasksPath, not both.'),
    requirementsText: documentText
      .optional()
      .describe('With tasksText: the requirements document that its tasks refer to.'),
    unfollow: z
      .literal(true)
      .optional()
      .describe('Follow no plan: tasks leave, results stay; excludes tasksPath and tasksText.'),
  })
  .refine(
    ({ tasksPath, tasksText, unfollow }) =>
      [tasksPath, tasksText, unfollow].filter((source) => source !== undefined).length === 1,
    {
      message: 'give either tasksPath, a file that the service can read, or tasksText, the document itself',
      path: ['tasksPath'],
    },
  );

export const LISTS = ['board', 'plan', 'iterations', 'notes', 'messages'] as const;
export type ListName = (typeof LISTS)[number];

export const runStatusRequest = z.object({
  session: sessionName,
  task: text(128).optional().describe('Include what is known of this task, such as its ledger.'),
  lists: z
    .array(z.enum(LISTS))
    .max(LISTS.length, `must name at most ${LISTS.length}`)
    .optional()
    .describe('Include these lists: one whole, or several of up to 200 entries.'),
  status: oneOf('Only tasks with this status in the list of the plan.', PLAN_STATUSES).optional(),
});
