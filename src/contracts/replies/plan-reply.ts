import { z } from 'zod';
import { NEXT_ACTIONS, ROLES } from '../kinds.js';
import { LISTS, planProblem, progressTask, tasksDocument, tasksSource } from '../plan-requests.js';
import { question } from '../results.js';
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
} from '../schema-fields.js';
import { TASK_STATUSES } from '../task-events.js';
import {
  inboxMessage,
  iterationView,
  needs,
  note,
  outcome,
  planTotals,
  sessionView,
  taskView,
} from './session-reply.js';

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

export const runInitReply = z.object({
  ...status,
  problems: list('The first 1,000 lines that were not read, or read by guess.', planProblem),
});

const { id, text, written, parent, group, optional, reason, cancelled, dependsOn, requirements, prompt } =
  progressTask.shape;

const planTask = named('PlanTask', 'A task of a plan, with its results.', {
  id,
  text,
  depth: count('Depth in the tree of tasks.'),
  status: planStatus,
  written,
  parent,
  group,
  blocked: mark('Its line, its last result or a parent says it is blocked.'),
  reason,
  optional,
  cancelled,
  depends_on: dependsOn,
  waits_for: strings('Unfinished dependencies, its own and those of its parents.').exactOptional(),
  unknown_dependencies: strings(
    'Dependencies that the plan does not have, which are ignored.',
  ).exactOptional(),
  requirements,
  requirement_texts: tasksDocument.shape.requirementTexts,
  prompt,
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

export const runStatusReply = z.object({
  ...status,
  degraded,
  task: taskShown.exactOptional(),
  lists: lists.exactOptional().describe('Set if the request asks for lists.'),
});

/** The reply of `run.status`. */
export type RunStatusReply = Output<typeof runStatusReply>;
/** A task of a plan with its results. */
export type PlanTaskView = Output<typeof planTask>;
export type RunInitReply = Output<typeof runInitReply>;
