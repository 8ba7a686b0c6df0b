import { z } from 'zod';
import { RETENTION_ACTIONS } from '../lifecycle-record.js';
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
    sequence: place('Sequence of its newest event that the import has stored; 0 for none.'),
    skipped: count('Events of the history that are too large for a message, and left out.'),
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
    learnings: count('Proposals, learnings and demands of reviews that are erased, or lose a source.'),
  })
  .meta({ id: 'StoredCounts', description: 'How much is stored, by kind.' });

export type StoredCounts = Told<typeof stored>;

const progress = {
  state: z
    .enum(['counted', 'running', 'done'])
    .describe(
      'counted: dry run; running: the keeper erases it, look by dry runs; done: it was forgotten before.',
    ),
  found: stored.describe('What is stored now.'),
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
    action: z.enum(RETENTION_ACTIONS).describe('What happens to a session.'),
    after: z.string().exactOptional().describe('Days without activity, such as 90d.'),
    at: time('When it was set'),
  })
  .meta({ id: 'RetentionRule', description: 'What happens to sessions without activity.' });

const dueSession = z
  .object({
    session: z.string().describe('Name of the session.'),
    project: z.string().describe('Its project.'),
    last: time('When its last event was stored'),
  })
  .meta({ id: 'DueSession', description: 'A session that is due by a rule.' });

const dueSessions = (about: string) =>
  z
    .object({
      total: count('How many sessions.'),
      sessions: z.array(dueSession).describe('The least recently active, at most 100.'),
    })
    .describe(about);

const outlook = z.object({
  rules: z.array(rule).describe('The rule of the installation first. Without rules everything is kept.'),
  paused: z
    .literal(true)
    .exactOptional()
    .describe('Set after a restore: the keeper does nothing until a rule is set again.'),
  archive: dueSessions('Sessions that would be archived now.'),
  forget: dueSessions('Sessions that would be forgotten now.'),
  unknown: count('Sessions that have not been read yet, and are left alone.'),
});
export type RetentionOutlook = Told<typeof outlook>;

export const RETENTION_REPLIES = {
  'retention-show': outlook,
  'retention-set': outlook,
} as const;
