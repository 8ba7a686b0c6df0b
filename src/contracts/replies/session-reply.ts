import { z } from 'zod';
import { ROLES, VERDICTS } from '../kinds.js';
import { NOTE_TYPES, sessionSettings } from '../session-meta-events.js';
import { TASK_STATUSES } from '../task-events.js';
import { count, next, place, sequence, type Told, time } from './page-fields.js';

const iteration = count('Number of the iteration that was running; 0 before the first.');

export const outcome = z.templateLiteral([z.enum(ROLES), '_', z.enum(VERDICTS)]);

export const handover = z
  .object({
    note: z.string().describe('What it wants the next agent to know.'),
    by: z.string().exactOptional().describe('The agent.'),
    at: time('When it was given back'),
  })
  .meta({ id: 'Handover', description: 'What the agent left that gave the task back.' });

export const taskView = z
  .object({
    id: z.string().describe('Id of the task, such as TAS-1.'),
    content: z.string().describe('The work to do.'),
    status: z.enum(TASK_STATUSES).describe('Its status.'),
    priority: z.int().describe('0 critical, 1 high, 2 medium, 3 low, 4 backlog.'),
    depends_on: z.array(z.string()).describe('Tasks that it waits for.'),
    created_at: time('When it was added'),
    updated_at: time('When it was last changed'),
    iteration: count('Iteration in which its status last changed; 0 before the first one.'),
    claimed_by: z.string().exactOptional().describe('Agent that claimed it.'),
    claimed_at: time('When that agent last renewed its claim').exactOptional(),
    handover: handover.exactOptional(),
    reason: z.string().exactOptional().describe('Reason given for its status.'),
    status_at: time(
      'When a command last set its status, where something else has changed since',
    ).exactOptional(),
    result: z
      .object({
        dispatch: place('Its sequence in the DISPATCH stream.'),
        at: time('When it arrived'),
        outcome: outcome.describe('Its role and verdict.'),
      })
      .exactOptional()
      .describe('Its newest result, if that changed the status after the last command.'),
    unresolved: z
      .array(
        z.object({
          id: z.string().describe('Id of a task that it waits for.'),
          why: z
            .enum(['missing', 'remaining', 'in_progress', 'blocked', 'cancelled'])
            .describe('The status of that task, or missing.'),
        }),
      )
      .describe('Unfinished dependencies, and why.'),
  })
  .meta({ id: 'Task', description: 'A task of the board.' });

export const planClaim = z
  .object({
    id: z.string().describe('Id of the task in the plan.'),
    text: z.string().describe('The work to do.'),
    claimed_by: z.string().exactOptional().describe('Agent that claimed it.'),
    since: time('When that agent claimed it').exactOptional(),
    claimed_at: time('When that agent last renewed its claim').exactOptional(),
    handover: handover.exactOptional(),
  })
  .meta({ id: 'PlanClaim', description: 'A task of the plan with the agent that works on it.' });

export const note = z
  .object({
    id: z.string().describe('Id of the note, such as NOT-1.'),
    content: z.string().describe('The text.'),
    type: z.enum(NOTE_TYPES).describe('The kind of note.'),
    created_at: time('When it was written'),
    updated_at: time('When it was last changed'),
    iteration,
  })
  .meta({ id: 'Note', description: 'A note for later agents.' });

export const inboxMessage = z
  .object({
    id: z.string().describe('Id of the message, such as MSG-1.'),
    content: z.string().describe('The text.'),
    created_at: time('When it was left'),
    read: z.boolean().describe('Whether it was read.'),
  })
  .meta({ id: 'Message', description: 'A message for the next agent.' });

export const answerView = z
  .object({
    task: z.string().describe('The task whose agent asked.'),
    questions: z.array(z.string()).describe('The questions that it answers.'),
    answer: z.string().describe('The answer.'),
    by: z.string().describe('Who answered.'),
    at: time('When it was given'),
  })
  .meta({ id: 'Answer', description: 'An answer to what an agent asked.' });

export const iterationView = z
  .object({
    number: count('Number of the iteration, 1 for the first.'),
    started_at: time('When it began'),
    ended_at: time('When it ended; absent while it runs').exactOptional(),
    implied: z
      .literal(true)
      .exactOptional()
      .describe('It was started implicitly, by the first write of an agent.'),
    complete: z.boolean().describe('False if the next iteration started before it ended.'),
    summary: z.string().exactOptional().describe('Its summary.'),
    tasks_worked: z
      .array(z.string())
      .describe('Tasks whose status changed in it, or that its summary names.'),
  })
  .meta({ id: 'Iteration', description: 'One round of work of an agent.' });

const dispatches = z
  .record(z.enum([...ROLES, 'rejected']), z.int())
  .describe('Results since the session began, by role, and rejected ones.');
const board = z
  .object({
    total: count('All tasks of the board.'),
    ready: count('Tasks that an agent could begin now.'),
    waiting: count('Open tasks that are blocked or wait for others.'),
    remaining: count('Pending tasks.'),
    in_progress: count('Tasks in progress.'),
    blocked: count('Blocked tasks.'),
    completed: count('Completed tasks.'),
    cancelled: count('Cancelled tasks.'),
  })
  .meta({
    id: 'BoardCounts',
    description: 'The tasks of a board by status. Each counts once.',
  });

export const planTotals = z
  .object({
    total: count('Tasks of the plan, without cancelled ones and groups.'),
    completed: count('Completed tasks.'),
    inProgress: count('Tasks in progress.'),
    pending: count('Pending tasks.'),
  })
  .meta({ id: 'PlanTotals', description: 'The tasks of a plan by status.' });

export const sessionView = z
  .object({
    name: z.string().describe('Name of the session.'),
    status: z.enum(['open', 'completed']).describe('Its status.'),
    title: z.string().exactOptional().describe('Title, shown in lists.'),
    goal: z.string().exactOptional().describe('Its goal.'),
    spec: z.string().exactOptional().describe('The specification itself.'),
    spec_path: z.string().exactOptional().describe('Path of the specification.'),
    project: z.string().exactOptional().describe('The project whose learnings it uses.'),
    // Unlike a request, it may contain settings of a later version.
    settings: z.object(sessionSettings.shape).exactOptional().describe('Settings that were set.'),
    completed_reason: z.string().exactOptional().describe('Why it was completed with open tasks.'),
    archived: z
      .object({
        at: time('Since when'),
        reason: z.string().exactOptional().describe('Why, in words.'),
      })
      .exactOptional()
      .describe('Set while it is archived and read-only.'),
    sequence: place('Sequence of its newest event; 0 for a session without events.'),
    started_at: z.string().nullable().describe('When it began, ISO 8601 in UTC; null without an event.'),
    last_event_at: z
      .string()
      .nullable()
      .describe('When its newest event was, ISO 8601 in UTC; null without any.'),
    iteration: count('Number of the newest iteration; 0 before the first.'),
    board: board.describe('Counts of its board.'),
    plan: planTotals.nullable().describe('Counts of its plan; null before run.init.'),
    notes: count('How many notes it has.'),
    unread: count('Unread messages.'),
    facts: count('Valid facts.'),
    dispatches,
  })
  .meta({ id: 'Session', description: 'The figures of a session.' });

const common = {
  session: z.string().describe('Name of the session.'),
  sequence: place('Sequence of its newest event.'),
  at: time('When its newest event was stored'),
};

const stalledTask = z
  .object({
    task: z.string().describe('Id of the task.'),
    where: z
      .enum(['board', 'plan', 'results'])
      .describe('Source of the task; results if neither board nor plan has it.'),
    reason: z.string().describe('Why it counts as stalled.'),
  })
  .meta({ id: 'StalledTask', description: 'A stalled task.' });

/** Fields that say why a person is needed. */
export const needs = {
  stalled: z.array(stalledTask).describe('Stalled tasks: the first five.'),
  waiting: z
    .array(z.string())
    .describe('What needs a person, a sentence each: the first five. Empty for a completed session.'),
  asks: z
    .array(
      z.object({
        task: z.string().describe('Id of the task.'),
        text: z.string().describe('The question.'),
        options: z.array(z.string()).exactOptional().describe('Suggested answers.'),
        default: z.string().exactOptional().describe('What the work goes on with until someone answers.'),
      }),
    )
    .describe('The open questions with which waiting begins.'),
  working: z
    .array(
      z.object({
        task: z.string().describe('Id of the task, of the board or the plan.'),
        agent: z.string().describe('The agent that has claimed it.'),
        since: time('When it was claimed'),
        seen: time('The last sign of life of the agent'),
      }),
    )
    .describe('Who works now, the most recently claimed first: at most five.'),
};

export const sessionFigures = z
  .object({
    ...common,
    brief: z.literal(false).describe('All figures are there.'),
    status: z.enum(['open', 'completed']).describe('Its status.'),
    startedAt: z.iso.datetime().exactOptional().describe('When it began, ISO 8601 in UTC.'),
    project: z.string().exactOptional().describe('The project whose learnings it uses.'),
    title: z.string().exactOptional().describe('Its title, in one line.'),
    goal: z.string().exactOptional().describe('Its goal, up to 300 characters.'),
    results: count('Results that could be read.'),
    rejected: count('Results that could not be used.'),
    facts: count('Valid facts.'),
    board: z
      .object({
        open: count('Tasks that are neither completed nor cancelled.'),
        done: count('Completed tasks.'),
      })
      .describe('The tasks of its board by status.'),
    plan: z
      .object({
        spec: z.string().describe('Name of the specification.'),
        done: count('Completed tasks.'),
        total: count('Tasks, without cancelled ones and groups.'),
      })
      .exactOptional()
      .describe('The tasks of its plan by status, if it has one.'),
    ...needs,
    unread: count('Unread messages.'),
    found: z
      .object({
        tasks: z
          .array(
            z.object({
              id: z.string().describe('Id of the task.'),
              text: z.string().describe('Its text, up to 60 characters.'),
            }),
          )
          .describe('Open tasks of the board and the plan.'),
        files: z.array(z.string()).describe('Paths of files.'),
      })
      .exactOptional()
      .describe('The searched tasks and files that have all words of text.'),
    archived: z
      .object({
        at: time('When it was archived'),
        reason: z.string().exactOptional().describe('Why, in words.'),
      })
      .exactOptional()
      .describe('Set while it is archived and read-only.'),
  })
  .meta({ id: 'SessionFigures', description: 'A session in a list, with its figures.' });

const sessionName = z
  .object({
    ...common,
    brief: z
      .literal(true)
      .describe('It has not been read yet. Without a keeper, only the newest 1,000 sessions are read.'),
  })
  .meta({ id: 'SessionName', description: 'A session in a list, by name and time alone.' });

export const sessionList = z.object({
  sessions: z
    .array(z.discriminatedUnion('brief', [sessionFigures, sessionName]))
    .describe(
      'Those that wait for a person first, then stalled ones, then the others; each the newest first. On later pages, sessions that changed since the first page come last, and may be repeated.',
    ),
  total: count('All matching sessions.'),
  next,
});

/** Figures as the index has them: with a text in which a list is searched, and which it does not show. */
export const figures = sessionFigures
  .omit({ sequence: true, at: true, brief: true, archived: true, found: true })
  .extend({ work: z.string() });
export type Figures = Told<typeof figures>;

export type SessionFigures = Told<typeof sessionFigures>;
/** A session in a list, with figures unless `brief` is true. */
export type SessionListed = Told<typeof sessionList>['sessions'][number];

export const snapshotShown = z.object({
  after: place('Sequence of the last event folded into it.'),
  createdAt: time('When it was written'),
  bytes: count('Bytes of its text.'),
  facts: count('Valid facts in it.'),
  dispatches,
  text: z.string().exactOptional().describe('The snapshot itself, if requested.'),
  sequence,
});

export type SnapshotShown = Told<typeof snapshotShown>;
