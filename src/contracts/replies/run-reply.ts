import { z } from 'zod';
import { NEXT_ACTIONS, ROLES } from '../kinds.js';
import { question } from '../results.js';
import { planProblem, progressTask, tasksDocument, tasksSource } from '../run-request.js';
import { TASK_STATUSES } from '../task-events.js';
import { count, place, sequence, type Told } from './page-fields.js';
import { outcome, planTotals, sessionView } from './session-reply.js';

/** The replies of `run.init`, `run.status` and `plan-show`. */

const planStatus = progressTask.shape.status.describe('What the plan says of it.');
const results = {
  dispatches: count('Results of the task.'),
  last_outcome: outcome.describe('Role and verdict of its last result.'),
  next_action: z.enum(NEXT_ACTIONS).describe('What should happen next.'),
};

const taskProgress = z
  .object({
    task: z.string().describe('Id of the task.'),
    board: z.enum(TASK_STATUSES).exactOptional().describe('Its status on the board, where it is there.'),
    plan: planStatus.exactOptional(),
    ...results,
    required_fixes: count('Fixes that its last review required.'),
    questions: z
      .array(question)
      .exactOptional()
      .describe('Questions of its agents that no one has answered.'),
    stalled: z.boolean().describe('Whether it makes no progress.'),
    replan_hint: z.string().exactOptional().describe('Why it is stalled, where it is.'),
  })
  .meta({ id: 'TaskProgress', description: 'What came of a task, and what it needs next.' });

const run = z
  .object({
    spec: z.string().describe('Name of the specification.'),
    goal: z.string().exactOptional().describe('What the run is for.'),
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
      .describe('The first task that is open, can be worked on, and waits for nothing.'),
    held: z
      .string()
      .exactOptional()
      .describe('Why there is no next task though some are open, such as "2 blocked, 1 optional".'),
    problems: count('Lines of the plan that were not placed.'),
    guesses: count('Lines of the plan that were placed by a guess.'),
    unnamed: count('Tasks of the plan without an id, which are named by their place or text.'),
    drift: z
      .array(
        z.object({
          task: z.string().describe('Id of the task.'),
          kind: z
            .enum(['approved_but_open', 'ticked_but_needs_changes'])
            .describe('Which way plan and results contradict each other.'),
          message: z.string().describe('What is wrong, and what to do.'),
        }),
      )
      .exactOptional()
      .describe('Where the plan and the results contradict each other; left out where they agree.'),
  })
  .meta({ id: 'Plan', description: 'A plan in numbers.' });

export const unreadable = z
  .object({
    task: z.string().describe('Id of the task.'),
    dispatch: place('Sequence of the result in the DISPATCH stream.'),
    role: z.enum(ROLES).exactOptional().describe('The role that it was published as.'),
    code: z.string().describe('A stable error code.'),
    reason: z.string().describe('What is wrong with it.'),
    fix: z.string().exactOptional().describe('What would make it readable.'),
    meant: z
      .enum(ROLES)
      .exactOptional()
      .describe('The role whose result it seems to be, where it was published as that of another.'),
  })
  .meta({ id: 'UnreadableResult', description: 'A task whose last result could not be read.' });

const status = {
  session: sessionView.describe('The session.'),
  run: run.nullable().describe('The run; null before run.init.'),
  tasks: z.array(taskProgress).describe('Tasks that have had a dispatch.'),
  unreadable: z
    .array(unreadable)
    .describe(
      'Tasks whose last result could not be read; the newest rejections of the session are remembered.',
    ),
  sequence,
};

const degraded = z
  .string()
  .exactOptional()
  .describe('Why the plan cannot be read now; the rest of the reply is older then.');

export const runStatusReply = z.object({ ...status, degraded });

export const runInitReply = z.object({
  ...status,
  problems: z
    .array(planProblem)
    .describe('Lines that were not placed, or placed by a guess: the first 1,000.'),
});

const { id, text, parent, group, optional, cancelled, dependsOn, requirements, prompt } = progressTask.shape;

const planTask = z
  .object({
    id,
    text,
    depth: count('Number of tasks that it is a part of.'),
    status: planStatus,
    parent,
    group,
    blocked: z
      .literal(true)
      .exactOptional()
      .describe('Its line, its last result or a task that it is a part of says that it is blocked.'),
    optional,
    cancelled,
    depends_on: dependsOn,
    waits_for: z
      .array(z.string())
      .exactOptional()
      .describe('Of these, and of those of the tasks that it is a part of: what is not done.'),
    unknown_dependencies: z
      .array(z.string())
      .exactOptional()
      .describe('Dependencies that the plan does not have: nothing waits for them.'),
    requirements,
    prompt,
    dispatches: results.dispatches.exactOptional(),
    last_outcome: results.last_outcome.exactOptional(),
    next_action: results.next_action.exactOptional(),
  })
  .meta({ id: 'PlanTask', description: 'A task of a plan, with what came of it.' });

export const planShown = z.object({
  plan: run.nullable().describe('The plan in numbers; null before run.init.'),
  tasks: z
    .array(planTask)
    .describe(
      'In the order of the plan: a part stands behind what it is a part of. Requirements and prompt only where the request names the task.',
    ),
  problems: z
    .array(planProblem)
    .describe(
      'The first problems of reading the plan; plan.problems, plan.guesses and plan.unnamed count all.',
    ),
  more_problems: count('How many there are beyond these.').exactOptional(),
  shortened: tasksDocument.shape.shortened,
  degraded,
  sequence,
});

/** The reply of `run.status`. */
export type RunStatusReply = Told<typeof runStatusReply>;
/** The reply of `run.init`. */
export type RunInitReply = Told<typeof runInitReply>;

/** The replies of `ledger-list` and `ledger-show`. */

const ledgerListed = taskProgress
  .extend({
    board: z.enum(TASK_STATUSES).exactOptional().describe('Its status on the board, where it is there.'),
    rounds: count('Reviews that asked for changes.'),
    findings: count('Findings that its last review left open.'),
    blockers: count('What keeps it from going on.'),
    last_dispatch: place('Sequence of its last result in the DISPATCH stream.'),
  })
  .meta({ id: 'LedgerListed', description: 'What came of a task, in a list.' });

export const ledgersListed = z.object({
  tasks: z.array(ledgerListed).describe('Tasks with a result, the one heard of last at the end.'),
  unreadable: z.array(unreadable).describe('Tasks whose last result could not be read.'),
  sequence,
});

export const ledgerShown = z.object({
  task: z.string().describe('Id of the task.'),
  entries: z
    .record(z.string(), z.unknown().describe('Any JSON value.'))
    .describe(
      'The entries ledger.task.* and ledger.progress.* that have content; empty where nothing is known.',
    ),
  remark: z.string().exactOptional().describe('Where nothing is known: so, with tasks of a like name.'),
  sequence,
});

export type LedgersListed = Told<typeof ledgersListed>;
export type LedgerListed = LedgersListed['tasks'][number];
export type LedgerShown = Told<typeof ledgerShown>;
