import { z } from 'zod';
import { NEXT_ACTIONS, ROLES } from '../kinds.js';
import { question } from '../results.js';
import { planProblem, progressTask, tasksDocument, tasksSource } from '../run-request.js';
import { TASK_STATUSES } from '../task-events.js';
import { count, faultFields, place, sequence, type Told } from './page-fields.js';
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
  next_action: z.enum(NEXT_ACTIONS).describe('The next action.'),
};

const taskProgress = z
  .object({
    task: z.string().describe('Id of the task.'),
    board: z.enum(TASK_STATUSES).exactOptional().describe('Its status on the board, if it is there.'),
    plan: planStatus.exactOptional(),
    ...results,
    required_fixes: count('Fixes that its last review required.'),
    rounds: count('Reviews that asked for changes.'),
    findings: count('Findings that its last review left open.'),
    blockers: count('Its blockers.'),
    last_dispatch: place('Sequence of its last result in the DISPATCH stream.'),
    questions: z.array(question).exactOptional().describe('Questions that no one has answered.'),
    stalled: z.boolean().describe('True if it is stalled.'),
    replan_hint: z.string().exactOptional().describe('Why it is stalled.'),
  })
  .meta({ id: 'TaskProgress', description: 'The results of a task, and its next action.' });

const run = z
  .object({
    spec: z.string().describe('Name of the specification.'),
    goal: z.string().exactOptional().describe('Goal of the run.'),
    source: tasksSource.describe('Where its tasks come from.'),
    fingerprint: tasksDocument.shape.fingerprint,
    totals: planTotals.describe('How many tasks it has.'),
    active_task_id: z
      .string()
      .nullable()
      .describe(
        'The task in progress, else the next one. Never one that is blocked, or optional while required ones are open.',
      ),
    next_task_id: z
      .string()
      .nullable()
      .describe('The first open task that is not blocked and waits for nothing.'),
    held: z
      .string()
      .exactOptional()
      .describe('Why there is no next task though some are open, such as "2 blocked, 1 optional".'),
    problems: count('Lines of the plan that could not be read.'),
    guesses: count('Lines of the plan that were read by a guess.'),
    unnamed: count('Tasks of the plan without an id, named by their position or text.'),
    drift: z
      .array(
        z.object({
          task: z.string().describe('Id of the task.'),
          kind: z
            .enum(['approved_but_open', 'ticked_but_needs_changes', 'words_gone'])
            .describe('Kind of the contradiction.'),
          message: z.string().describe('What is wrong, and what to do.'),
        }),
      )
      .exactOptional()
      .describe('Contradictions between plan and results, if any.'),
  })
  .meta({ id: 'Plan', description: 'The figures of a plan.' });

export const unreadable = z
  .object({
    task: z.string().describe('Id of the task.'),
    dispatch: place('Sequence of the result in the DISPATCH stream.'),
    role: z.enum(ROLES).exactOptional().describe('The role that it was published with.'),
    ...faultFields,
  })
  .meta({ id: 'UnreadableResult', description: 'A task whose last result could not be read.' });

const status = {
  session: sessionView.describe('The session.'),
  run: run.nullable().describe('The run; null before run.init.'),
  tasks: z.array(taskProgress).describe('Tasks with a result, the most recent at the end.'),
  unreadable: z
    .array(unreadable)
    .describe(
      'Tasks whose last result could not be read; the newest rejections of the session are remembered.',
    ),
  findings: z
    .object({
      total: count('Open findings: issues and required fixes.'),
      newest: z
        .array(z.string())
        .describe('The newest five, as "src/a.ts: Leaks a handle (critical, task 1)".'),
    })
    .describe('What reviews found and nobody has closed.'),
  ...needs,
  sequence,
};

const degraded = z
  .string()
  .exactOptional()
  .describe('Why the plan cannot be read now; the rest of the reply is then older.');

export const runInitReply = z.object({
  ...status,
  problems: z
    .array(planProblem)
    .describe('Lines that could not be read, or were read by a guess: the first 1,000.'),
});

const { id, text, written, parent, group, optional, reason, cancelled, dependsOn, requirements, prompt } =
  progressTask.shape;

const planTask = z
  .object({
    id,
    text,
    depth: count('Depth in the tree of tasks.'),
    status: planStatus,
    written,
    parent,
    group,
    blocked: z
      .literal(true)
      .exactOptional()
      .describe('Its line, its last result or a parent says that it is blocked.'),
    reason,
    optional,
    cancelled,
    depends_on: dependsOn,
    waits_for: z
      .array(z.string())
      .exactOptional()
      .describe('Unfinished dependencies, its own and those of its parents.'),
    unknown_dependencies: z
      .array(z.string())
      .exactOptional()
      .describe('Dependencies that the plan does not have, which are ignored.'),
    requirements,
    requirement_texts: tasksDocument.shape.requirementTexts,
    prompt,
    claimed_by: z.string().exactOptional().describe('Agent that claimed it.'),
    dispatches: results.dispatches.exactOptional(),
    last_outcome: results.last_outcome.exactOptional(),
    next_action: results.next_action.exactOptional(),
  })
  .meta({ id: 'PlanTask', description: 'A task of a plan, with its results.' });

export const planShown = z.object({
  plan: run.nullable().describe('The plan in numbers; null before run.init.'),
  tasks: z
    .array(planTask)
    .describe(
      'In the order of the plan, subtasks after their parent. Requirements, prompt and preamble only if the request names the task.',
    ),
  problems: z
    .array(planProblem)
    .describe('The first problems of the plan; plan.problems, plan.guesses and plan.unnamed count all.'),
  more_problems: count('Number of further problems.').exactOptional(),
  preamble: tasksDocument.shape.preamble,
  shortened: tasksDocument.shape.shortened,
  degraded,
  sequence,
});

const lists = z
  .object({
    board: z.array(taskView).describe('The tasks of the board.'),
    plan: z.array(planTask).describe('The tasks of the plan, in its order.'),
    iterations: z.array(iterationView).describe('The iterations.'),
    notes: z.array(note).describe('The notes.'),
    messages: z.array(inboxMessage).describe('The messages, read ones too.'),
    left_out: z
      .partialRecord(z.enum(['board', 'plan', 'iterations', 'notes', 'messages']), count('How many.'))
      .describe('Items of a long list that are not here: done, read and old ones first.'),
  })
  .meta({ id: 'SessionLists', description: 'The lists of a session, each of at most 200 items.' });

export const runStatusReply = z.object({
  ...status,
  degraded,
  lists: lists.exactOptional().describe('Set if the request asks for lists.'),
});

/** The reply of `run.status`. */
export type RunStatusReply = Told<typeof runStatusReply>;
/** The reply of `run.init`. */
export type RunInitReply = Told<typeof runInitReply>;

export const ledgerShown = z.object({
  task: z.string().describe('Id of the task.'),
  entries: z
    .record(z.string(), z.unknown().describe('Any JSON value.'))
    .describe('The entries ledger.task.* and ledger.progress.* with content; empty if nothing is known.'),
  remark: z.string().exactOptional().describe('Set if nothing is known; names similar tasks.'),
  sequence,
});

export type LedgerShown = Told<typeof ledgerShown>;
