import { z } from 'zod';
import { eventOf } from './event.js';
import { NEXT_ACTIONS, ROLES } from './kinds.js';
import {
  inboxMessage,
  iterationView,
  needs,
  note,
  outcome,
  planTotals,
  sessionView,
  taskView,
} from './replies/session-reply.js';
import { ofSession, sessionName, text, untrimmed } from './request-row.js';
import { question } from './results.js';
import {
  boolean,
  count,
  faultFields,
  list,
  mark,
  named,
  type Output,
  object,
  oneOf,
  place,
  sequence,
  string,
  strings,
} from './schema-fields.js';
import { sessionSettings } from './session-meta-events.js';
import { TASK_STATUSES } from './task-events.js';

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

export const gitVersion = named('PlanVersion', 'The version of a plan in its repository.', {
  file: string('Path of the plan in its repository.').max(1024, 'must be at most 1024 characters'),
  commits: strings('Newest commits that changed it, newest first; none if changed since.').max(
    50,
    'must be at most 50 commits',
  ),
});
export type GitVersion = z.output<typeof gitVersion>;

export const runEvents = [
  eventOf('run.initialized', {
    spec: string('Name of the specification.'),
    goal: string('Goal of the run.').exactOptional(),
    settings: sessionSettings.exactOptional().describe('Settings of the session to record.'),
    source: tasksSource.describe('Where the tasks come from.'),
    version: gitVersion.exactOptional(),
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

export const LISTS = ['board', 'plan', 'iterations', 'notes', 'messages'] as const;
export type ListName = (typeof LISTS)[number];

const planStatus = progressTask.shape.status.describe('Its status in the plan.');
const results = {
  dispatches: count('Results of the task.'),
  last_outcome: outcome.describe('Role and verdict of its last result.'),
  next_action: oneOf('The next action.', NEXT_ACTIONS),
};

const taskProgress = named('TaskProgress', 'The results of a task, and its next action.', {
  task: string('Id of the task.'),
  board: oneOf('Its status on the board, if it is there.', TASK_STATUSES).exactOptional(),
  plan: planStatus.exactOptional(),
  ...results,
  required_fixes: count('Fixes that its last review required.'),
  rounds: count('Reviews that asked for changes.'),
  findings: count('Findings that its last review left open.'),
  blockers: count('Its blockers.'),
  blocker: string('The first of them.').exactOptional(),
  summary: string('What its last result says, shortened.').exactOptional(),
  last_dispatch: place('Sequence of its last result in the DISPATCH stream.'),
  questions: list('Questions that no one has answered.', question).exactOptional(),
  stalled: boolean('True if it is stalled.'),
  replan_hint: string('Why it is stalled.').exactOptional(),
});

const run = named('Plan', 'The figures of a plan.', {
  spec: string('Name of the specification.'),
  goal: string('Goal of the run.').exactOptional(),
  source: tasksSource.describe('Where its tasks come from.'),
  version: gitVersion.exactOptional(),
  fingerprint: tasksDocument.shape.fingerprint,
  totals: planTotals.describe('How many tasks it has.'),
  active_task_id: z
    .string()
    .nullable()
    .describe('The task in progress, else the next: unblocked, required before optional.'),
  next_task_id: z
    .string()
    .nullable()
    .describe('The first open task that is not blocked and waits for nothing.'),
  held: string('Why no open task is next, such as "2 blocked, 1 optional".').exactOptional(),
  problems: count('Lines of the plan that could not be read.'),
  guesses: count('Lines of the plan that were read by a guess.'),
  unnamed: count('Tasks of the plan without an id, named by position or text.'),
  problem_lines: list('The first lines that were not read, or read by a guess.', planProblem).exactOptional(),
  more_problems: count('Number of further such lines.').exactOptional(),
  shortened: tasksDocument.shape.shortened,
  drift: list(
    'Contradictions between plan and results, if any.',
    z.object({
      task: string('Id of the task.'),
      kind: oneOf('Kind of the contradiction.', [
        'approved_but_open',
        'ticked_but_needs_changes',
        'words_gone',
      ]),
      message: string('What is wrong, and what to do.'),
    }),
  ).exactOptional(),
});

export const unreadable = named('UnreadableResult', 'A task whose last result could not be read.', {
  task: string('Id of the task.'),
  dispatch: place('Sequence of the result in the DISPATCH stream.'),
  role: oneOf('The role that it was published with.', ROLES).exactOptional(),
  ...faultFields,
});

const status = {
  session: sessionView.describe('The session.'),
  run: run.nullable().describe('The run; null before run.init.'),
  unfollowed: mark('It follows no plan, because a person said so.'),
  tasks: list('Tasks with a result, the most recent at the end.', taskProgress),
  unreadable: list('Tasks whose last result could not be read, from the newest rejections.', unreadable),
  findings: object('What reviews found and nobody has closed.', {
    total: count('Open findings: issues and required fixes.'),
    newest: strings('The newest five, as "src/a.ts: Leaks a handle (critical, task 1)".'),
  }),
  ...needs,
  sequence,
};

const degraded = string('Why the plan cannot be read; the reply is then older.').exactOptional();

const line = progressTask.shape;

const planTask = named('PlanTask', 'A task of a plan, with its results.', {
  id: line.id,
  text: line.text,
  depth: count('Depth in the tree of tasks.'),
  status: planStatus,
  written: line.written,
  parent: line.parent,
  group: line.group,
  blocked: mark('Its line, its last result or a parent says it is blocked.'),
  reason: line.reason,
  optional: line.optional,
  cancelled: line.cancelled,
  depends_on: line.dependsOn,
  waits_for: strings('Unfinished dependencies, its own and those of its parents.').exactOptional(),
  unknown_dependencies: strings(
    'Dependencies that the plan does not have, which are ignored.',
  ).exactOptional(),
  requirements: line.requirements,
  requirement_texts: tasksDocument.shape.requirementTexts,
  prompt: line.prompt,
  claimed_by: string('Agent that claimed it.').exactOptional(),
  dispatches: results.dispatches.exactOptional(),
  last_outcome: results.last_outcome.exactOptional(),
  next_action: results.next_action.exactOptional(),
});

const lists = named('SessionLists', 'Lists of a session; those the request does not name are empty.', {
  board: list('The tasks of the board.', taskView),
  plan: list('The tasks of the plan, in its order.', planTask),
  iterations: list('The iterations.', iterationView),
  notes: list('The notes.', note),
  messages: list('The messages, read ones too.', inboxMessage),
  left_out: z
    .partialRecord(z.enum(LISTS), count('How many.'))
    .describe('Number of omitted items: done, read and old ones first.'),
});

const taskShown = object('What is known of the task that the request names.', {
  id: string('Id of the task.'),
  entries: z
    .record(z.string(), z.unknown().describe('Any JSON value.'))
    .describe('The entries ledger.task.* and ledger.progress.* with content; empty if nothing is known.'),
  remark: string('Set if neither plan nor board has the task; names similar ones.').exactOptional(),
  board: taskView.exactOptional(),
  plan: planTask.exactOptional(),
  preamble: tasksDocument.shape.preamble,
});

export const PLAN_REQUESTS = {
  'run.init': ofSession(
    false,
    'track the progress of a session in a tasks.md',
    'plan follow',
    z
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
        version: gitVersion.optional(),
        unfollow: z
          .literal(true)
          .optional()
          .describe('Follow no plan: tasks leave, results stay; excludes tasksPath and tasksText.'),
      })
      .refine(
        ({ tasksPath, tasksText, unfollow }) =>
          [tasksPath, tasksText, unfollow].filter((source) => source !== undefined).length === 1,
        {
          message:
            'give either tasksPath, a file that the service can read, or tasksText, the document itself',
          path: ['tasksPath'],
        },
      ),
    z.object({
      ...status,
      problems: list('The first 1,000 lines that were not read, or read by guess.', planProblem),
    }),
  ),
  'run.status': ofSession(
    true,
    'show how far a session is and what each task needs next',
    'status',
    z.object({
      session: sessionName,
      task: text(128).optional().describe('Include what is known of this task, such as its ledger.'),
      lists: z
        .array(z.enum(LISTS))
        .max(LISTS.length, `must name at most ${LISTS.length}`)
        .optional()
        .describe('Include these lists: one whole, or several of up to 200 entries.'),
      status: oneOf('Only tasks with this status in the list of the plan.', PLAN_STATUSES).optional(),
    }),
    z.object({
      ...status,
      degraded,
      task: taskShown.exactOptional(),
      lists: lists.exactOptional().describe('Set if the request asks for lists.'),
    }),
  ),
} as const;

/** The reply of `run.status`. */
export type RunStatusReply = Output<(typeof PLAN_REQUESTS)['run.status']['reply']>;
/** A task of a plan with its results. */
export type PlanTaskView = Output<typeof planTask>;
export type RunInitReply = Output<(typeof PLAN_REQUESTS)['run.init']['reply']>;
