import { z } from 'zod';
import { termFields } from '../lifecycle-record.js';
import { count, next, place, type Told, time } from './page-fields.js';

export const CLAIM_REPLIES = {
  'run-claim': z.object({
    claimed: z.boolean().describe('True if the run holds the lease now.'),
    holder: z.string().exactOptional().describe('The run that holds it; left out after a release.'),
    since: time('When that run claimed it').exactOptional(),
  }),
} as const;

const exportedEvent = z
  .object({
    sequence: place('Its sequence in the log of the session.'),
    after: place('The sequence that it was stored directly after.').exactOptional(),
    decidedOn: place('The sequence that it was decided on; others may have come in between.').exactOptional(),
    event: z
      .object({ type: z.string().describe('Type of the event.') })
      .catchall(z.unknown().describe('Further fields.'))
      .describe('The event, in the event schemas.'),
  })
  .meta({ id: 'ExportedEvent', description: 'An event of a session with its sequence.' });

export const EXPORT_REPLIES = {
  'session-export': z.object({
    session: z.string().describe('Name of the session.'),
    events: z.array(exportedEvent).describe('The events, the oldest first: as many as fit one reply.'),
    skipped: count('Messages in between that this version cannot read as events.'),
    sequence: place('Sequence of the newest event when the first page was made: the last page ends there.'),
    next,
  }),
  'session-import': z.object({
    session: z.string().describe('Name of the session.'),
    state: z
      .enum(['numbers', 'importing', 'done'])
      .describe(
        'numbers: DISPATCH sequences are still moved up, ask again; importing: events are accepted; done: it is a session.',
      ),
    events: count('Events of the file that are stored; send the next ones.'),
    dispatches: place('Progress of numbers.').exactOptional(),
  }),
} as const;

const stored = z
  .object({
    events: count('Events.'),
    dispatches: count('Results as they were published.'),
    rejected: count('Messages of rejected results.'),
    snapshots: count('Snapshots.'),
    prompts: count('Compiled prompts.'),
    telemetry: count('Records of telemetry.'),
    index: count('Entries of the index of sessions.'),
    evidence: count('Mentions of sessions as sources of learnings.'),
    proposals: count('Proposals that only one session supports.'),
    learnings: count('Learnings to be erased.'),
  })
  .meta({ id: 'StoredCounts', description: 'How much is stored, by kind.' });

export type StoredCounts = Told<typeof stored>;

const progress = {
  state: z
    .enum(['counted', 'running', 'done'])
    .describe('counted: dry run; running: ask again by a dry run, which waits and begins nothing; done.'),
  found: stored.describe('Counts at the beginning, or now for a dry run.'),
  erased: stored.describe('Counts erased so far.'),
  forgotten: z.literal(true).exactOptional().describe('It had been forgotten before, and nothing was left.'),
};

export const FORGET_REPLIES = {
  'session-forget': z.object({
    session: z.string().describe('Name of the session.'),
    ...progress,
  }),
  'project-forget': z.object({
    project: z.string().describe('Name of the project.'),
    sessions: z.array(z.string()).describe('Its sessions, at most 1000.'),
    total: count('Number of its sessions.'),
    ...progress,
  }),
} as const;

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
    after: z.string().describe('The expired term, such as 90d.'),
    of: z.string().exactOptional().describe('The project of the rule; left out for the installation.'),
  })
  .meta({ id: 'DueSession', description: 'A session with an expired term.' });

const dueSessions = (about: string) =>
  z
    .object({
      total: count('How many sessions.'),
      sessions: z.array(dueSession).describe('The least recently active, at most 100.'),
    })
    .describe(about);

const dueMessages = (about: string) =>
  z
    .object({
      total: count('How many messages.'),
      oldest: time('When the oldest message in the stream was stored').exactOptional(),
      held: z.string().exactOptional().describe('Why fewer messages than expired are removed now.'),
    })
    .describe(about);

const run = z
  .object({
    startedAt: time('When it began'),
    endedAt: time('When it ended; left out while it goes on, or where it was cut short').exactOptional(),
    error: z.string().exactOptional().describe('The error.'),
    archived: count('Sessions that were archived.'),
    forgotten: count('Sessions that were forgotten.'),
    spared: count('Sessions skipped because they were active.'),
    dispatches: count('Results that were removed.'),
    rejected: count('Messages of rejected results that were removed.'),
  })
  .meta({ id: 'RetentionRun', description: 'What a run of the rules did.' });

const outlook = z.object({
  version: place('Version of the rules: one more with each change.'),
  rules: z.array(rule).describe('The rule of the installation first. Without rules everything is kept.'),
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
  lastRun: run.exactOptional().describe('The last run of the rules.'),
});
export type RetentionOutlook = Told<typeof outlook>;
export type SessionsShown = RetentionOutlook['archive'];
export type MessagesShown = RetentionOutlook['dispatches'];

export const RETENTION_REPLIES = {
  'retention-show': outlook,
  'retention-set': outlook,
} as const;
