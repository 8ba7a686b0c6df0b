import { z } from 'zod';
import { RETENTION_ACTIONS } from '../lifecycle-record.js';
import {
  boolean,
  count,
  list,
  mark,
  named,
  next,
  type Output,
  oneOf,
  place,
  string,
  time,
} from '../schema-fields.js';

export const CLAIM_REPLIES = {
  'run-claim': z.object({
    claimed: boolean('True if the run holds the lease now.'),
    holder: string('The run that holds it; left out after a release.').exactOptional(),
    since: time('When that run claimed it').exactOptional(),
  }),
} as const;

const exportedEvent = named('ExportedEvent', 'An event of a session with its sequence.', {
  sequence: place('Its sequence in the log of the session.'),
  after: place('The sequence that its append expected.').exactOptional(),
  event: z
    .object({ type: string('Type of the event.') })
    .catchall(z.unknown().describe('Further fields.'))
    .describe('The event, in the event schemas.'),
});

export const EXPORT_REPLIES = {
  'session-export': z.object({
    session: string('Name of the session.'),
    events: list('The events, the oldest first: as many as fit one reply.', exportedEvent),
    skipped: count('Messages in between that this version cannot read as events.'),
    sequence: place('Sequence of the newest event when the first page was made: the last page ends there.'),
    next,
  }),
  'session-import': z.object({
    session: string('Name of the session.'),
    sequence: place('Sequence of its newest event that the import has stored; 0 for none.'),
  }),
} as const;

const stored = named('StoredCounts', 'How much is stored, by kind.', {
  events: count('Events.'),
  dispatches: count('Results as they were published.'),
  rejected: count('Messages of rejected results.'),
  snapshots: count('Snapshots.'),
  prompts: count('Compiled prompts.'),
  telemetry: count('Records of telemetry.'),
  index: count('Entries of the index of sessions.'),
  learnings: count('Proposals, learnings and demands of reviews that are erased, or lose a source.'),
});

export type StoredCounts = Output<typeof stored>;

export const FORGET_REPLIES = {
  'session-forget': z.object({
    session: string('Name of the session.'),
    state: oneOf(
      'counted: dry run; running: the keeper erases it, look by dry runs; done: it was forgotten before.',
      ['counted', 'running', 'done'],
    ),
    found: stored.describe('What is stored now.'),
    forgotten: mark('It had been forgotten before, and nothing was left.'),
  }),
} as const;

const rule = named('RetentionRule', 'What happens to sessions without activity.', {
  project: string('Left out for the rule of the whole installation.').exactOptional(),
  action: oneOf('What happens to a session.', RETENTION_ACTIONS),
  after: string('Days without activity, such as 90d.').exactOptional(),
  at: time('When it was set'),
});

const retention = z.object({
  rules: list('The rules. Without rules everything is kept.', rule),
  archive: count('Sessions that the rules would archive now.'),
  forget: count('Sessions that the rules would forget now.'),
});
export type RetentionReply = Output<typeof retention>;

export const RETENTION_REPLIES = {
  'retention-show': retention,
  'retention-set': retention,
} as const;
