import { z } from 'zod';
import { eventOf, timestamp } from './event.js';
import { statementEnds, statementScope } from './recorded-fact.js';
import { boolean, list, mark, object, oneOf, string, strings } from './schema-fields.js';
import { iteration, taskKey } from './task-events.js';

/** See `src/ledger/stall.ts`. */
export const STALL_SIGNALS = ['non_progress', 'ping_pong', 'same_fixes', 'same_test', 'same_files'] as const;
export type StallSignal = (typeof STALL_SIGNALS)[number];

export const NOTE_TYPES = ['learning', 'stuck', 'tip', 'decision', 'rule'] as const;
export type NoteType = (typeof NOTE_TYPES)[number];

const noteKey = z
  .string()
  .regex(/^NOT-[1-9]\d*$/)
  .describe('Id of the note, such as NOT-1.');
const messageKey = z
  .string()
  .regex(/^MSG-[1-9]\d*$/)
  .describe('Id of the message, such as MSG-1.');

export const noteEvents = [
  eventOf('note.added', {
    note: noteKey,
    content: string('The text.'),
    type: oneOf('The kind of note.', NOTE_TYPES),
    iteration,
    by: string('The person who says it; absent for an agent.').exactOptional(),
    ends: statementEnds.exactOptional(),
    scope: statementScope.exactOptional(),
  }),
  eventOf('note.edited', {
    note: noteKey,
    content: string('The text.').optional(),
    type: oneOf('The kind of note.', NOTE_TYPES).optional(),
  }),
  eventOf('note.deleted', {
    note: noteKey,
    by: string('Who removed it.').exactOptional(),
    person: mark('A person did, and not an agent.'),
  }),
] as const;

export const inboxEvents = [
  eventOf('inbox.added', {
    message: messageKey,
    content: string('The text.'),
    by: string('Who left it.').exactOptional(),
  }),
  eventOf('inbox.read', { message: messageKey, unread: boolean('True if it is unread again.').optional() }),
] as const;

export const answerEvents = [
  eventOf('question.answered', {
    ref: string('Id of the statement that it becomes, such as N7.'),
    task: string('The task whose agent asked.'),
    questions: strings('The questions that it answers, as they were asked.'),
    answer: string('The answer.'),
    by: string('Who answered.'),
    agent: mark('An agent answered, and not a person.'),
    unblocks: mark('The task of the board can go on.'),
  }),
] as const;

const number = z.int().positive().describe('Number of the iteration.');

export const iterationEvents = [
  eventOf('iteration.started', { number }),
  eventOf('iteration.completed', { number }),
  eventOf('iteration.summary', {
    number,
    summary: string('Summary of the iteration.'),
    tasks_worked: list('Tasks that the summary names.', taskKey),
  }),
] as const;

export const lifecycleEvents = [
  eventOf('session.opened', {
    title: string('Title, shown in lists.').optional(),
    goal: string('Goal of the session.').optional(),
    spec: string('The specification itself.').optional(),
    spec_path: string('Path of the specification.').optional(),
    project: string('The project whose learnings it uses.').optional(),
    person: mark('A person set it.'),
  }),
  eventOf('session.completed', {
    forced: boolean('True if tasks were still open.'),
    reason: string('Why, in words.').optional(),
  }),
  eventOf('session.restarted', { reason: string('Why, in words.').optional() }),
  eventOf('session.archived', {
    reason: string('Why, in words.').optional(),
  }),
  eventOf('session.reopened', { reason: string('Why, in words.').optional() }),
] as const;

const CHECKPOINT_REASONS = ['archived', 'imported', 'erased'] as const;

/**
 * Replaces the state when folded, so that the events that it covers may be removed; they count as at its sequence. Results may
 * have been stored between the last event that it covers and itself: then it counts for nothing, and nothing is removed.
 */
const checkpointFields = {
  covers: z.int().nonnegative().describe('The last sequence of this log whose event the state has.'),
  state: string('The state: JSON of version and state, gzip, Base64.'),
  reason: oneOf(
    '`archived`, `imported` from a session file, or a statement was `erased`.',
    CHECKPOINT_REASONS,
  ),
  events: z.int().nonnegative().optional().describe('Number of events that it replaces, if known.'),
  newest_dispatch: object('The newest counted result.', {
    sequence: z.int().positive().describe('Sequence in the DISPATCH stream.'),
    at: timestamp.describe('When it was published, ISO 8601 in UTC.'),
  }).optional(),
};

const checkpointEvent = eventOf('session.checkpoint', {
  ...checkpointFields,
  erased: object('The statement that was erased.', {
    id: string('Id of the statement, such as M7.'),
    by: string('Who erased it.'),
    events: z.array(z.int()).readonly().describe('Sequences of the events that had its text.'),
    dispatches: z.array(z.int()).readonly().describe('Sequences of such results in the DISPATCH stream.'),
  }).optional(),
});
/** An import begins with one. */
export const importedCheckpoint = eventOf('session.checkpoint', checkpointFields);

export const checkpointEvents = [
  checkpointEvent,
  // An event of a session file: history, which the checkpoint at the beginning contains already.
  eventOf('session.history', {
    event: z
      .record(z.string(), z.unknown().describe('A field of the event.'))
      .describe('The event as its file has it.'),
    sequence: z.int().positive().optional().describe('Where it stood, if it was overwritten.'),
  }),
] as const;
