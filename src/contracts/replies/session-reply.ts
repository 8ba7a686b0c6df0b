import { z } from 'zod';
import { ROLES, VERDICTS } from '../kinds.js';
import {
  boolean,
  count,
  list,
  mark,
  named,
  next,
  type Output,
  object,
  oneOf,
  place,
  string,
  strings,
  time,
} from '../schema-fields.js';
import { NOTE_TYPES } from '../session-meta-events.js';
import { TASK_STATUSES } from '../task-events.js';

const iteration = count('Number of the iteration that was running; 0 before the first.');

export const outcome = z.templateLiteral([z.enum(ROLES), '_', z.enum(VERDICTS)]);

export const handover = named('Handover', 'What the agent left that gave the task back.', {
  note: string('What it wants the next agent to know.'),
  by: string('The agent.').exactOptional(),
  at: time('When it was given back'),
});

const UNRESOLVED = ['missing', 'remaining', 'in_progress', 'blocked', 'cancelled'] as const;

export const taskView = named('Task', 'A task of the board.', {
  id: string('Id of the task, such as TAS-1.'),
  content: string('The work to do.'),
  by: string('Who wrote it.').exactOptional(),
  status: oneOf('Its status.', TASK_STATUSES),
  priority: z.int().describe('0 critical, 1 high, 2 medium, 3 low, 4 backlog.'),
  depends_on: strings('Tasks that it waits for.'),
  created_at: time('When it was added'),
  updated_at: time('When it was last changed'),
  iteration: count('Iteration in which its status last changed; 0 before the first one.'),
  claimed_by: string('Agent that claimed it.').exactOptional(),
  claimed_at: time('When that agent claimed it').exactOptional(),
  handover: handover.exactOptional(),
  reason: string('Reason given for its status.').exactOptional(),
  status_at: time('When a command last set its status').exactOptional(),
  result: object('Its newest result, if that changed the status after the last command.', {
    dispatch: place('Its sequence in the DISPATCH stream.'),
    at: time('When it arrived'),
    outcome: outcome.describe('Its role and verdict.'),
  }).exactOptional(),
  unresolved: list(
    'Unfinished dependencies, and why.',
    z.object({
      id: string('Id of a task that it waits for.'),
      why: oneOf('The status of that task, or missing.', UNRESOLVED),
    }),
  ),
});

export const planClaim = named('PlanClaim', 'A task of the plan with the agent that works on it.', {
  id: string('Id of the task in the plan.'),
  text: string('The work to do.'),
  claimed_by: string('Agent that claimed it.').exactOptional(),
  claimed_at: time('When that agent claimed it').exactOptional(),
  handover: handover.exactOptional(),
});

export const note = named('Note', 'A note for later agents.', {
  id: string('Id of the note, such as NOT-1.'),
  content: string('The text.'),
  type: oneOf('The kind of note.', NOTE_TYPES),
  created_at: time('When it was written'),
  updated_at: time('When it was last changed'),
  iteration,
});

export const inboxMessage = named('Message', 'A message for the next agent.', {
  id: string('Id of the message, such as MSG-1.'),
  content: string('The text.'),
  by: string('Who left it; absent in older events.').exactOptional(),
  created_at: time('When it was left'),
  read: boolean('Whether it was read.'),
});

export const answerView = named('Answer', 'An answer to what an agent asked.', {
  task: string('The task whose agent asked.'),
  questions: strings('The questions that it answers.'),
  answer: string('The answer.'),
  by: string('Who answered.'),
  agent: mark('An agent answered, and not a person.'),
  at: time('When it was given'),
});

export const iterationView = named('Iteration', 'One round of work of an agent.', {
  number: count('Number of the iteration, 1 for the first.'),
  started_at: time('When it began'),
  ended_at: time('When it ended; absent while it runs').exactOptional(),
  implied: mark('It was started implicitly, by the first write of an agent.'),
  complete: boolean('False if the next iteration started before it ended.'),
  summary: string('Its summary.').exactOptional(),
  tasks_worked: strings('Tasks whose status changed in it, or that its summary names.'),
});

const dispatches = z
  .record(z.enum([...ROLES, 'rejected']), z.int())
  .describe('Results since the session began, by role, and rejected ones.');
const board = named('BoardCounts', 'The tasks of a board by status. Each counts once.', {
  total: count('All tasks of the board.'),
  ready: count('Tasks that an agent could begin now.'),
  waiting: count('Open tasks that are blocked or wait for others.'),
  remaining: count('Pending tasks.'),
  in_progress: count('Tasks in progress.'),
  blocked: count('Blocked tasks.'),
  completed: count('Completed tasks.'),
  cancelled: count('Cancelled tasks.'),
});

export const planTotals = named('PlanTotals', 'The tasks of a plan by status.', {
  total: count('Tasks of the plan, without cancelled ones and groups.'),
  completed: count('Completed tasks.'),
  inProgress: count('Tasks in progress.'),
  pending: count('Pending tasks.'),
});

export const sessionView = named('Session', 'The figures of a session.', {
  name: string('Name of the session.'),
  status: oneOf('Its status.', ['open', 'completed']),
  title: string('Title, shown in lists.').exactOptional(),
  goal: string('Its goal.').exactOptional(),
  spec: string('The specification itself.').exactOptional(),
  spec_path: string('Path of the specification.').exactOptional(),
  project: string('The project whose learnings it uses.').exactOptional(),
  completed_reason: string('Why it was completed with open tasks.').exactOptional(),
  archived: object('Set while it is archived and read-only.', {
    at: time('Since when'),
    reason: string('Why, in words.').exactOptional(),
  }).exactOptional(),
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
  dropped: count('Facts of least use that a full session no longer keeps.').exactOptional(),
  dispatches,
});

const common = {
  session: string('Name of the session.'),
  sequence: place('Sequence of its newest event.'),
  at: time('When its newest event was stored'),
};

const stalledTask = named('StalledTask', 'A stalled task.', {
  task: string('Id of the task.'),
  where: oneOf('Source of the task; results if neither board nor plan has it.', ['board', 'plan', 'results']),
  reason: string('Why it counts as stalled.'),
});

/** Fields that say why a person is needed. */
export const needs = {
  stalled: list('Stalled tasks: the first five.', stalledTask),
  waiting: strings('Up to five things that need a person, a sentence each.'),
  asks: list(
    'The open questions with which waiting begins.',
    z.object({
      task: string('Id of the task.'),
      text: string('The question.'),
      options: strings('Suggested answers.').exactOptional(),
      default: string('What the work goes on with until someone answers.').exactOptional(),
    }),
  ),
  working: list(
    'Who works now, the most recently claimed first: at most five.',
    z.object({
      task: string('Id of the task, of the board or the plan.'),
      agent: string('The agent that has claimed it.'),
      since: time('When it was claimed'),
    }),
  ),
};

export const sessionFigures = named('SessionFigures', 'A session in a list, with its figures.', {
  ...common,
  brief: z.literal(false).describe('All figures are there.'),
  status: oneOf('Its status.', ['open', 'completed']),
  started_at: z.iso.datetime().exactOptional().describe('When it began, ISO 8601 in UTC.'),
  project: string('The project whose learnings it uses.').exactOptional(),
  title: string('Its title, in one line.').exactOptional(),
  goal: string('Its goal, up to 300 characters.').exactOptional(),
  last: string('The task and summary of its newest result.').exactOptional(),
  results: count('Results that could be read.'),
  rejected: count('Results that could not be used.'),
  facts: count('Valid facts.'),
  board: object('The tasks of its board by status.', {
    open: count('Tasks that are neither completed nor cancelled.'),
    done: count('Completed tasks.'),
  }),
  plan: object('The tasks of its plan by status, if it has one.', {
    spec: string('Name of the specification.'),
    done: count('Completed tasks.'),
    total: count('Tasks, without cancelled ones and groups.'),
  }).exactOptional(),
  ...needs,
  unread: count('Unread messages.'),
  found: object('The searched tasks and files that have all words of text.', {
    tasks: list(
      'Open tasks of the board and the plan.',
      z.object({ id: string('Id of the task.'), text: string('Its text, up to 60 characters.') }),
    ),
    files: strings('Paths of files.'),
  }).exactOptional(),
  archived: object('Set while it is archived and read-only.', {
    at: time('When it was archived'),
    reason: string('Why, in words.').exactOptional(),
  }).exactOptional(),
});

const sessionName = named('SessionName', 'A session in a list, by name and time alone.', {
  ...common,
  brief: z.literal(true).describe('Not read yet; without a keeper, only the newest 1,000 are read.'),
});

export const sessionList = z.object({
  sessions: list(
    'Waiting first, then stalled, then others; changed ones may come again.',
    z.discriminatedUnion('brief', [sessionFigures, sessionName]),
  ),
  total: count('All matching sessions.'),
  next,
});

/** Figures as the index has them: with a text in which a list is searched, and which it does not show. */
export const figures = sessionFigures
  .omit({ sequence: true, at: true, brief: true, archived: true, found: true })
  .extend({ work: z.string() });
export type Figures = Output<typeof figures>;

export type SessionFigures = Output<typeof sessionFigures>;
/** A session in a list, with figures unless `brief` is true. */
export type SessionListed = Output<typeof sessionList>['sessions'][number];

/** An entry of the bucket `session_index`: the figures that lists show and are searched in, and the sequence that they reflect. */
export const sessionIndexEntry = z.object({
  v: z.literal(1),
  sequence: z.number(),
  at: z.iso.datetime(),
  figures,
});
export type SessionIndexEntry = Output<typeof sessionIndexEntry>;
