import { z } from 'zod';
import { termFields } from '../retention-record.js';
import { count, place, time } from './reply-fields.js';
import type { Told } from './told.js';

/** The replies of the tools that say how long things are kept. */

const rule = z
  .object({
    project: z.string().exactOptional().describe('Left out for the rule of the whole installation.'),
    at: time('When it was set'),
    ...termFields((about) => z.string().exactOptional().describe(about)),
  })
  .meta({ id: 'RetentionRule', description: 'How long things are kept, in days or never.' });

const dueSession = z
  .object({
    session: z.string().describe('Name of the session.'),
    project: z.string().describe('Its project.'),
    last: time('When it moved last'),
    after: z.string().describe('The term that has passed, such as 90d.'),
    of: z.string().exactOptional().describe('The project whose rule says so; left out for the installation.'),
  })
  .meta({ id: 'DueSession', description: 'A session for which a term has passed.' });

const dueSessions = (about: string) =>
  z
    .object({
      total: count('How many sessions.'),
      sessions: z.array(dueSession).describe('Those that moved longest ago, at most 100.'),
    })
    .describe(about);

const dueMessages = (about: string) =>
  z
    .object({
      total: count('How many messages.'),
      oldest: time('When the oldest message in the stream was stored').exactOptional(),
      held: z.string().exactOptional().describe('Why nothing is removed now, or not all that is old enough.'),
    })
    .describe(about);

const run = z
  .object({
    startedAt: time('When it began'),
    endedAt: time('When it ended; left out while it goes on, or where it was cut short').exactOptional(),
    error: z.string().exactOptional().describe('What it failed with.'),
    archived: count('Sessions that were archived.'),
    forgotten: count('Sessions that were forgotten.'),
    spared: count('Sessions that had moved by the time that it was their turn, or were in use otherwise.'),
    dispatches: count('Results that were removed.'),
    rejected: count('Messages of rejected results that were removed.'),
  })
  .meta({ id: 'RetentionRun', description: 'What was done by the rules.' });

const outlook = z.object({
  version: place('Version of the rules: one more with each change.'),
  rules: z.array(rule).describe('The rule of the installation first. None: everything is kept.'),
  paused: z
    .literal(true)
    .exactOptional()
    .describe('Set after a restore: the keeper does nothing until a rule is set again.'),
  at: time('The time as of which the rest holds'),
  archive: dueSessions('Sessions that would be archived.'),
  forget: dueSessions('Sessions that would be forgotten.'),
  dispatches: dueMessages('Results, as they were published, that would be removed.'),
  rejected: dueMessages('Messages of rejected results that would be removed.'),
  unknown: count('Sessions that have not been read yet, and are left alone.'),
  lastRun: run.exactOptional().describe('The last time that rules were followed.'),
});
export type RetentionOutlook = Told<typeof outlook>;
export type SessionsShown = RetentionOutlook['archive'];
export type MessagesShown = RetentionOutlook['dispatches'];

export const RETENTION_REPLIES = {
  'retention-show': outlook,
  'retention-set': outlook,
} as const;
