import { z } from 'zod';
import { eventOf, timestamp } from './event.js';
import { opens, taskKey } from './task-events.js';

/**
 * Settings that shape a session's prompts. The log records them, not the environment, so that every process compiles
 * the same bytes. `session-open` and `run.init` set them; omitted ones keep their value.
 */

/** See `src/ledger/stall.ts`. */
export const STALL_SIGNALS = ['non_progress', 'ping_pong', 'same_fixes', 'same_test', 'same_files'] as const;
export type StallSignal = (typeof STALL_SIGNALS)[number];

/** `approximate`: four characters a token. `o200k_base`: exact for many models, and slower. */
export const TOKENIZERS = ['approximate', 'o200k_base'] as const;
export type TokenizerName = (typeof TOKENIZERS)[number];

const whole = (low: number, high: number) =>
  z.int(`must be a whole number`).min(low, `must be at least ${low}`).max(high, `must be at most ${high}`);

export const sessionSettings = z
  .strictObject({
    implementerTokens: whole(100, 10_000_000)
      .optional()
      .describe("Tokens of an implementer's prompt and answer together."),
    reviewerTokens: whole(100, 10_000_000)
      .optional()
      .describe("Tokens of a reviewer's prompt and answer together."),
    maxOutputTokens: whole(0, 1_000_000).optional().describe('Tokens left for the answer.'),
    tokenizer: z
      .enum(TOKENIZERS)
      .optional()
      .describe('Tokenizer: approximate counts four characters a token; o200k_base is exact and slower.'),
    boardFollowsResults: z
      .boolean('must be true or false')
      .optional()
      .describe('If true, a result moves its task on the board. Default: true.'),
    stallThresholds: z
      .partialRecord(z.enum(STALL_SIGNALS), whole(1, 9999))
      .optional()
      .describe('Count at which each stall signal raises its flag.'),
  })
  .meta({
    id: 'SessionSettings',
    description: 'Settings of a session, which shape its prompts; omitted ones keep their value.',
  });

export type SessionSettings = z.output<typeof sessionSettings>;

export const NOTE_TYPES = ['learning', 'stuck', 'tip', 'decision'] as const;
export type NoteType = (typeof NOTE_TYPES)[number];

const iteration = z
  .int()
  .nonnegative()
  .describe('Number of the iteration that was running; 0 before the first.');

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
    content: z.string().describe('The text.'),
    type: z.enum(NOTE_TYPES).describe('The kind of note.'),
    iteration,
    opens,
  }),
  eventOf('note.edited', {
    note: noteKey,
    content: z.string().optional().describe('The text.'),
    type: z.enum(NOTE_TYPES).optional().describe('The kind of note.'),
  }),
  eventOf('note.deleted', { note: noteKey }),
] as const;

export const inboxEvents = [
  eventOf('inbox.added', { message: messageKey, content: z.string().describe('The text.') }),
  eventOf('inbox.read', { message: messageKey }),
] as const;

export const answerEvents = [
  eventOf('question.answered', {
    task: z.string().describe('The task whose agent asked.'),
    questions: z.array(z.string()).describe('The questions that it answers, as they were asked.'),
    answer: z.string().describe('The answer.'),
    by: z.string().describe('Who answered.'),
    unblocks: z.literal(true).exactOptional().describe('The task of the board can go on.'),
  }),
] as const;

const number = z.int().positive().describe('Number of the iteration.');

export const iterationEvents = [
  eventOf('iteration.started', { number }),
  eventOf('iteration.completed', { number, opens }),
  eventOf('iteration.summary', {
    number,
    summary: z.string().describe('Summary of the iteration.'),
    tasks_worked: z.array(taskKey).describe('Tasks that the summary names.'),
    opens,
  }),
] as const;

export const lifecycleEvents = [
  eventOf('session.opened', {
    title: z.string().optional().describe('Title, shown in lists.'),
    goal: z.string().optional().describe('Goal of the session.'),
    spec: z.string().optional().describe('The specification itself.'),
    spec_path: z.string().optional().describe('Path of the specification.'),
    project: z.string().optional().describe('The project whose learnings it uses.'),
    settings: sessionSettings.optional().describe('Settings of its prompts.'),
  }),
  eventOf('session.completed', {
    forced: z.boolean().describe('True if tasks were still open.'),
    reason: z.string().optional().describe('Why, in words.'),
  }),
  eventOf('session.restarted', { reason: z.string().optional().describe('Why, in words.') }),
  eventOf('session.archived', {
    reason: z.string().optional().describe('Why, in words.'),
    idle_since: z.string().optional().describe('Time of its last event, if a retention rule archived it.'),
  }),
  eventOf('session.reopened', { reason: z.string().optional().describe('Why, in words.') }),
] as const;

const CHECKPOINT_REASONS = ['archived', 'imported'] as const;

/**
 * Replaces the state when folded, so that older events may be removed. Stored only directly after the event that it was
 * made at; everything before counts as at its sequence.
 */
export const checkpointEvent = eventOf('session.checkpoint', {
  state: z.string().describe('The state: JSON of version and state as in a snapshot, gzip, Base64.'),
  reason: z.enum(CHECKPOINT_REASONS).describe('`archived`, or `imported` from a session file.'),
  events: z.int().nonnegative().optional().describe('Number of events that it replaces, if known.'),
  newest_dispatch: z
    .object({
      sequence: z.int().positive().describe('Sequence in the DISPATCH stream.'),
      at: timestamp.describe('When it was published, ISO 8601 in UTC.'),
    })
    .optional()
    .describe('The newest counted result.'),
});

export const checkpointEvents = [
  checkpointEvent,
  // An event of a session file: history, which the checkpoint at the beginning contains already.
  eventOf('session.history', {
    event: z
      .record(z.string(), z.unknown().describe('A field of the event.'))
      .describe('The event as its file has it.'),
  }),
] as const;
