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
import * as f from './schema-fields.js';
import { TASK_STATUSES } from './task-events.js';

const TASK_LINES = ['pending', 'in-progress', 'completed'] as const;

/** The status of a plan task in one word: that of its line, unless it is blocked or cancelled. */
export const PLAN_STATUSES = [...TASK_LINES, 'blocked', 'cancelled'] as const;

export const progressTask = f.named('PlanLine', 'A task as it was read from a plan.', {
  id: f.string('Id of the task.'),
  text: f.string('The work to do.'),
  was: f.string('Its words when its first result came, if they have changed since.').exactOptional(),
  written: f.string('Its id in the file, if other words had that id before.').exactOptional(),
  status: f.oneOf('Its status.', TASK_LINES),
  optional: f.mark('Optional.'),
  blocked: f.mark('Marked as blocked; the status is pending.'),
  reason: f.string('Why it is blocked.').exactOptional(),
  cancelled: f.mark('Cancelled: not in any total.'),
  group: f.mark('Its status derives from its subtasks, and only they are counted.'),
  parent: f.string('Its parent task.').exactOptional(),
  prompt: f.string("The plan's own words about it, line by line.").exactOptional(),
  requirements: f.strings('Its requirements.').exactOptional(),
  dependsOn: f.strings('Ids of tasks to complete first, as written; some may be unknown.').exactOptional(),
});

export const planProblem = f.named('PlanProblem', 'A line of a plan that was not read, or by guess.', {
  code: f.string('Kind of the problem.'),
  line: z.int().describe('Number of the line, 1 for the first.'),
  message: f.string('The problem.'),
  placed: f.mark('The line was read by a guess.'),
});

/** Ids are never given to other words: what is known under this one is about these. */
export const leftTask = f.named('LeftTask', 'A task that the plan had in an earlier version.', {
  id: f.string('Its id.'),
  text: f.string('Its words.'),
  written: progressTask.shape.written,
});
export type LeftTask = z.output<typeof leftTask>;

export const tasksDocument = f.named('PlanDocument', 'The content of a plan.', {
  fingerprint: f.object('Version of the text.', {
    mtimeMs: z
      .number()
      .describe('Modification time in milliseconds; 0 for a document sent with the request.'),
    hash: f.string('Hash of the text.'),
  }),
  tasks: f.list('The tasks.', progressTask),
  left: f.list('Tasks of earlier versions, the newest last.', leftTask).exactOptional(),
  preamble: f.string('The text before the first task.').exactOptional(),
  requirementTexts: z
    .record(z.string(), z.string())
    .exactOptional()
    .describe('Texts of the named requirements, from the document beside the plan.'),
  design: f.string('Path of the design document beside the plan.').exactOptional(),
  problems: z.number().describe('Lines that could not be read.'),
  guesses: z.number().exactOptional().describe('Lines that were read by a guess.'),
  unnamed: z.number().exactOptional().describe('Tasks without an id, named by their position or text.'),
  firstProblems: f.list('The first of these problems.', planProblem).exactOptional(),
  moreProblems: z.number().exactOptional().describe('Number of further problems.'),
  shortened: f
    .object('Tasks shortened because the plan is so large.', {
      texts: z.number().exactOptional().describe('Tasks with a shortened text.'),
      prompts: z.number().exactOptional().describe('Tasks with a shortened prompt.'),
      preamble: z.number().exactOptional().describe('Characters of the preamble that were left out.'),
      requirementTexts: z.number().exactOptional().describe('Requirements with a shortened or missing text.'),
    })
    .exactOptional(),
});

export type PlanProblem = z.output<typeof planProblem>;
export type ProgressTask = z.output<typeof progressTask>;
export type TasksDocument = z.output<typeof tasksDocument>;

const sourceKind = <const Kind extends string>(kind: Kind) =>
  z.literal(kind).describe('A file that the service reads, or a document sent with requests.');

export const tasksSource = z
  .discriminatedUnion('kind', [
    z.object({ kind: sourceKind('file'), path: f.string('Path of the file.') }),
    z.object({ kind: sourceKind('document') }),
  ])
  .meta({ id: 'PlanSource', description: 'Where the tasks of a plan come from.' });

export const gitVersion = f.named('PlanVersion', 'The version of a plan in its repository.', {
  file: f.string('Path of the plan in its repository.').max(1024, 'must be at most 1024 characters'),
  commits: f
    .strings('Newest commits that changed it, newest first; none if changed since.')
    .max(50, 'must be at most 50 commits'),
});
export type GitVersion = z.output<typeof gitVersion>;

export const runEvents = [
  eventOf('run.initialized', {
    spec: f.string('Name of the specification.'),
    goal: f.string('Goal of the run.').exactOptional(),
    source: tasksSource.describe('Where the tasks come from.'),
    version: gitVersion.exactOptional(),
    document: tasksDocument.describe('The content of the plan.'),
  }),
  eventOf('run.ended', {}),
  eventOf('progress.rebuilt', {
    version: gitVersion.exactOptional(),
    document: tasksDocument.describe('The content of the plan.'),
  }),
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
  dispatches: f.count('Results of the task.'),
  last_outcome: outcome.describe('Role and verdict of its last result.'),
  next_action: f.oneOf('The next action.', NEXT_ACTIONS),
};

const taskProgress = f.named('TaskProgress', 'The results of a task, and its next action.', {
  task: f.string('Id of the task.'),
  board: f.oneOf('Its status on the board, if it is there.', TASK_STATUSES).exactOptional(),
  plan: planStatus.exactOptional(),
  ...results,
  required_fixes: f.count('Fixes that its last review required.'),
  rounds: f.count('Reviews that asked for changes.'),
  findings: f.count('Findings that its last review left open.'),
  blockers: f.count('Its blockers.'),
  blocker: f.string('The first of them.').exactOptional(),
  summary: f.string('What its last result says, shortened.').exactOptional(),
  last_dispatch: f.place('Sequence of its last result in the DISPATCH stream.'),
  questions: f.list('Questions that no one has answered.', question).exactOptional(),
  stalled: f.boolean('True if it is stalled.'),
  replan_hint: f.string('Why it is stalled.').exactOptional(),
});

const run = f.named('Plan', 'The figures of a plan.', {
  spec: f.string('Name of the specification.'),
  goal: f.string('Goal of the run.').exactOptional(),
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
  why_none: f.string('Why no open task is next, such as "2 blocked, 1 optional".').exactOptional(),
  problems: f.count('Lines of the plan that could not be read.'),
  guesses: f.count('Lines of the plan that were read by a guess.'),
  unnamed: f.count('Tasks of the plan without an id, named by position or text.'),
  problem_lines: f
    .list('The first lines that were not read, or read by a guess.', planProblem)
    .exactOptional(),
  more_problems: f.count('Number of further such lines.').exactOptional(),
  shortened: tasksDocument.shape.shortened,
  drift: f
    .list(
      'Contradictions between plan and results, if any.',
      z.object({
        task: f.string('Id of the task.'),
        kind: f.oneOf('Kind of the contradiction.', [
          'approved_but_open',
          'ticked_but_needs_changes',
          'words_gone',
        ]),
        message: f.string('What is wrong, and what to do.'),
      }),
    )
    .exactOptional(),
});

export const unreadable = f.named('UnreadableResult', 'A task whose last result could not be read.', {
  task: f.string('Id of the task.'),
  dispatch: f.place('Sequence of the result in the DISPATCH stream.'),
  role: f.oneOf('The role that it was published with.', ROLES).exactOptional(),
  ...f.faultFields,
});

const status = {
  session: sessionView.describe('The session.'),
  run: run.nullable().describe('The run; null before run.init.'),
  unfollowed: f.mark('It follows no plan, because a person said so.'),
  tasks: f.list('Tasks with a result, the most recent at the end.', taskProgress),
  unreadable: f.list('Tasks whose last result could not be read, from the newest rejections.', unreadable),
  findings: f.object('The open findings of reviews.', {
    total: f.count('Open findings: issues and required fixes.'),
    newest: f.strings('The newest five, as "src/a.ts: Leaks a handle (critical, task 1)".'),
  }),
  ...needs,
  sequence: f.sequence,
};

const degraded = f.string('Why the plan cannot be read; the reply is then older.').exactOptional();

const line = progressTask.shape;

const planTask = f.named('PlanTask', 'A task of a plan, with its results.', {
  id: line.id,
  text: line.text,
  depth: f.count('Depth in the tree of tasks.'),
  status: planStatus,
  written: line.written,
  parent: line.parent,
  group: line.group,
  blocked: f.mark('Its line, its last result or a parent says it is blocked.'),
  reason: line.reason,
  optional: line.optional,
  cancelled: line.cancelled,
  depends_on: line.dependsOn,
  waits_for: f.strings('Unfinished dependencies, its own and those of its parents.').exactOptional(),
  unknown_dependencies: f
    .strings('Dependencies that the plan does not have, which are ignored.')
    .exactOptional(),
  requirements: line.requirements,
  requirement_texts: tasksDocument.shape.requirementTexts,
  prompt: line.prompt,
  claimed_by: f.string('Agent that claimed it.').exactOptional(),
  dispatches: results.dispatches.exactOptional(),
  last_outcome: results.last_outcome.exactOptional(),
  next_action: results.next_action.exactOptional(),
});

const lists = f.named('SessionLists', 'Lists of a session; those the request does not name are empty.', {
  board: f.list('The tasks of the board.', taskView),
  plan: f.list('The tasks of the plan, in its order.', planTask),
  iterations: f.list('The iterations.', iterationView),
  notes: f.list('The notes.', note),
  messages: f.list('The messages, read ones too.', inboxMessage),
  left_out: z
    .partialRecord(z.enum(LISTS), f.count('How many.'))
    .describe('Number of omitted items: done, read and old ones first.'),
});

const taskShown = f.object('What is known of the task that the request names.', {
  id: f.string('Id of the task.'),
  entries: z
    .record(z.string(), z.unknown().describe('Any JSON value.'))
    .describe('The entries ledger.task.* and ledger.progress.* with content; empty if nothing is known.'),
  remark: f.string('Set if neither plan nor board has the task; names similar ones.').exactOptional(),
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
        tasksPath: untrimmed(4096).optional().describe("A file under one of the service's roots."),
        tasksText: documentText
          .optional()
          .describe('The document itself; counts if the file at tasksPath has another text.'),
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
          (unfollow === undefined) !== ((tasksPath ?? tasksText) === undefined),
        {
          message:
            'give tasksPath, a file that the service can read, tasksText, the document itself, or both',
          path: ['tasksPath'],
        },
      ),
    z.object({
      ...status,
      problems: f.list('The first 1,000 lines that were not read, or read by guess.', planProblem),
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
      status: f.oneOf('Only tasks with this status in the list of the plan.', PLAN_STATUSES).optional(),
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
export type RunStatusReply = f.Output<(typeof PLAN_REQUESTS)['run.status']['reply']>;
/** A task of a plan with its results. */
export type PlanTaskView = f.Output<typeof planTask>;
export type RunInitReply = f.Output<(typeof PLAN_REQUESTS)['run.init']['reply']>;
