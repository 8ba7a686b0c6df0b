import { z } from 'zod';
import { ROLES, VERDICTS } from '../kinds.js';
import { NOTE_TYPES, sessionSettings } from '../session-meta-events.js';
import { TASK_STATUSES } from '../task-events.js';
import { count, next, place, sequence, type Told, time } from './page-fields.js';

/** What replies show of a session: its tasks, notes, messages, iterations, and the session itself. */

const iteration = count('Number of the iteration that was running; 0 before the first.');

/** Role and verdict of a result. */
export const outcome = z.templateLiteral([z.enum(ROLES), '_', z.enum(VERDICTS)]);

export const taskView = z
  .object({
    id: z.string().describe('Id of the task, such as TAS-1.'),
    content: z.string().describe('What is to be done.'),
    status: z.enum(TASK_STATUSES).describe('How far it is.'),
    priority: z.int().describe('0 critical, 1 high, 2 medium, 3 low, 4 backlog.'),
    depends_on: z.array(z.string()).describe('Tasks that it waits for.'),
    created_at: time('When it was added'),
    updated_at: time('When it was last changed'),
    iteration: count('Iteration in which its status last changed; 0 before the first one.'),
    claimed_by: z.string().exactOptional().describe('Agent that took it.'),
    reason: z.string().exactOptional().describe('Why it has its status, as the one who set it said.'),
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
      .describe(
        'Its newest result, where that came after the last command on its status and moved the task.',
      ),
    unresolved: z
      .array(
        z.object({
          id: z.string().describe('Id of a task that it waits for.'),
          why: z
            .enum(['missing', 'remaining', 'in_progress', 'blocked', 'cancelled'])
            .describe('The status of that task, or missing where there is none.'),
        }),
      )
      .describe('What it still waits for, and why.'),
  })
  .meta({ id: 'Task', description: 'A task of the board.' });

export const note = z
  .object({
    id: z.string().describe('Id of the note, such as NOT-1.'),
    content: z.string().describe('What it says.'),
    type: z.enum(NOTE_TYPES).describe('What kind of note it is.'),
    created_at: time('When it was written'),
    updated_at: time('When it was last changed'),
    iteration,
  })
  .meta({ id: 'Note', description: 'A note for later agents.' });

export const inboxMessage = z
  .object({
    id: z.string().describe('Id of the message, such as MSG-1.'),
    content: z.string().describe('What it says.'),
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
      .describe('It was opened by the first write of an agent, and nobody has started it since.'),
    complete: z.boolean().describe('Whether it was ended properly, rather than overtaken by the next one.'),
    summary: z.string().exactOptional().describe('What it came to.'),
    tasks_worked: z
      .array(z.string())
      .describe('Tasks whose status changed in it, or that its summary names.'),
  })
  .meta({ id: 'Iteration', description: 'One round of work of an agent.' });

const board = z
  .object({
    total: count('All tasks of the board.'),
    ready: count('Tasks that an agent could begin now.'),
    waiting: count('Open tasks that are blocked or wait for others.'),
    remaining: count('Tasks to be done.'),
    in_progress: count('Tasks that an agent works on.'),
    blocked: count('Tasks that cannot go on.'),
    completed: count('Tasks that are done.'),
    cancelled: count('Tasks that were given up.'),
  })
  .meta({
    id: 'BoardCounts',
    description: 'The tasks of a board in numbers. Each counts once by its status.',
  });

export const planTotals = z
  .object({
    total: count('Tasks of the plan that are work of their own: neither given up nor a group of others.'),
    completed: count('Tasks that are done.'),
    inProgress: count('Tasks that are in progress.'),
    pending: count('Tasks to be done.'),
  })
  .meta({ id: 'PlanTotals', description: 'The tasks of a plan in numbers.' });

export const sessionView = z
  .object({
    name: z.string().describe('Name of the session.'),
    status: z.enum(['open', 'completed']).describe('Whether it is done.'),
    title: z.string().exactOptional().describe('What lists show beside its name.'),
    goal: z.string().exactOptional().describe('What it is for.'),
    spec: z.string().exactOptional().describe('The specification itself.'),
    spec_path: z.string().exactOptional().describe('Where the specification is to be read.'),
    project: z.string().exactOptional().describe('The project whose learnings it uses.'),
    // Unlike a request, it may hold settings that are not known here.
    settings: z
      .object(sessionSettings.shape)
      .exactOptional()
      .describe('The settings of its prompts that were set.'),
    completed_reason: z.string().exactOptional().describe('Why it was completed in spite of open tasks.'),
    archived: z
      .object({
        at: time('Since when'),
        reason: z.string().exactOptional().describe('Why, in words.'),
      })
      .exactOptional()
      .describe('Where it is archived and takes no results: since when, and why.'),
    sequence: place('Sequence of its newest event; 0 for a session without events.'),
    started_at: z.string().nullable().describe('When it began, ISO 8601 in UTC; null without an event.'),
    last_event_at: z
      .string()
      .nullable()
      .describe('When its newest event was, ISO 8601 in UTC; null without any.'),
    iteration: count('Number of the newest iteration; 0 before the first.'),
    board: board.describe('How many tasks its board has.'),
    plan: planTotals.nullable().describe('How many tasks its plan has; null before run.init.'),
    notes: count('How many notes it has.'),
    unread: count('Messages that were not read.'),
    facts: count('Valid facts.'),
    dispatches: z
      .record(z.enum([...ROLES, 'rejected']), z.int())
      .describe('Results since the session began, by role, and those that were rejected.'),
  })
  .meta({ id: 'Session', description: 'A session in numbers.' });

/** The reply of `session-list`. */

const common = {
  session: z.string().describe('Name of the session.'),
  sequence: place('Sequence of its newest event.'),
  at: time('When its newest event was stored'),
};

const stalledTask = z
  .object({
    task: z.string().describe('Id of the task.'),
    where: z.enum(['board', 'plan', 'results']).describe('Where the task stands: results for neither.'),
    reason: z.string().describe('What shows that it makes no progress.'),
  })
  .meta({ id: 'StalledTask', description: 'A task that makes no progress.' });

export const sessionFigures = z
  .object({
    ...common,
    brief: z.literal(false).describe('All figures are there.'),
    status: z.enum(['open', 'completed']).describe('Whether it is done.'),
    startedAt: z.iso.datetime().exactOptional().describe('When it began, ISO 8601 in UTC.'),
    project: z.string().exactOptional().describe('The project whose learnings it uses.'),
    title: z.string().exactOptional().describe('Its title, in one line.'),
    goal: z.string().exactOptional().describe('What it is for, up to 300 characters.'),
    results: count('Results that could be read.'),
    rejected: count('Results that could not be used.'),
    facts: count('Facts that hold.'),
    board: z
      .object({
        open: count('Tasks that are neither completed nor cancelled.'),
        done: count('Tasks that are completed.'),
      })
      .describe('The tasks of its board in numbers.'),
    plan: z
      .object({
        spec: z.string().describe('Name of the specification.'),
        done: count('Tasks that are done.'),
        total: count('Tasks that are work of their own.'),
      })
      .exactOptional()
      .describe('The tasks of its plan in numbers, where it has one.'),
    stalled: z.array(stalledTask).describe('Tasks that make no progress: the first five.'),
    waiting: z
      .array(z.string())
      .describe('What waits for a person, a sentence each: the first five. Empty for a completed session.'),
    unread: count('Messages that were not read.'),
    archived: z
      .object({
        at: time('When it was archived'),
        reason: z.string().exactOptional().describe('Why, in words.'),
      })
      .exactOptional()
      .describe('Only of an archived session, which takes no results.'),
  })
  .meta({ id: 'SessionFigures', description: 'A session in a list, with its figures.' });

const sessionName = z
  .object({
    ...common,
    brief: z
      .literal(true)
      .describe(
        'It has not been read yet: no figures are known. Without a keeper, only the newest 1,000 are read.',
      ),
  })
  .meta({ id: 'SessionName', description: 'A session in a list, by name and time alone.' });

export const sessionList = z.object({
  sessions: z
    .array(z.discriminatedUnion('brief', [sessionFigures, sessionName]))
    .describe(
      'Stalled ones first, then those that wait for a person, then the others; each the newest first. On later pages, those that have moved since the first one come last, and may come twice.',
    ),
  total: count('All sessions that fit.'),
  next,
});

/** What the figures of a session hold beside its place and time. */
export const figures = sessionFigures.omit({
  ...{ sequence: true, at: true, brief: true, archived: true },
});
export type Figures = Told<typeof figures>;

/** A session in a list, with its figures. */
export type SessionFigures = Told<typeof sessionFigures>;
/** A session in a list: with its figures, or where `brief` is true by name and time alone. */
export type SessionListed = Told<typeof sessionList>['sessions'][number];

/** The reply of `snapshot-show`. */
export const snapshotShown = z.object({
  after: place('Sequence of the last event folded into it.'),
  createdAt: time('When it was written'),
  bytes: count('Bytes of its text.'),
  facts: count('Facts that hold in it.'),
  dispatches: z
    .record(z.enum([...ROLES, 'rejected']), z.int())
    .describe('Results since the session began, by role, and those that were rejected.'),
  text: z.string().exactOptional().describe('The snapshot itself, where the request asks for the whole.'),
  sequence,
});

export type SnapshotShown = Told<typeof snapshotShown>;
