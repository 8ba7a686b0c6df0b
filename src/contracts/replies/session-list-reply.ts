import { z } from 'zod';
import { next } from './page-fields.js';
import { count, place, time } from './reply-fields.js';
import type { Told } from './told.js';

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
