import { z } from 'zod';
import { DAYS_PATTERN, SPAN_PATTERN } from '../shared/text.js';
import { timestamp } from './event.js';
import { RETENTION_ACTIONS } from './lifecycle-record.js';
import { sessionList, sessionView } from './replies/session-reply.js';
import {
  command,
  cursor,
  flag,
  limit,
  moment,
  person,
  query,
  sessionName,
  text,
  wideCommand,
  wideQuery,
} from './request-row.js';
import * as f from './schema-fields.js';
import { sessionEvent } from './session-events.js';
import { importedCheckpoint } from './session-meta-events.js';

/** Requests about sessions as a whole, about projects, and about the installation. */

/** JSON lines: a head, the events from the oldest, an end that proves completeness. Later versions read it too. */
export const SESSION_FILE_VERSION = 1;

export const sessionFileHead = z.object({
  throughline: z.literal('session', 'must be "session": the file is not one of "throughline session export"'),
  v: z.literal(
    SESSION_FILE_VERSION,
    `must be ${SESSION_FILE_VERSION}: a later version has written this file`,
  ),
  session: z.string(),
  /** Version of the product. */
  version: z.string(),
  at: timestamp,
});

export const sessionFileEvent = z.object({
  sequence: z.int().positive().describe('Its sequence in the log that was exported.'),
  after: z.int().nonnegative().exactOptional().describe('The sequence that its append expected.'),
  event: sessionEvent.describe('The event.'),
});

/** Number of events in the lines before it. */
export const sessionFileEnd = z.object({
  events: z.int().positive('must be 1 or more: there is nothing to import'),
});

const MAX_SPEC = 200_000;
const MOST_EVENTS = 1000;
const content = text(10_000);
const counts = (about: string) => z.record(z.string(), z.number().describe('How many.')).describe(about);
const session = z.object({
  session: sessionView.describe('The session as it is now.'),
  sequence: f.sequence,
});
const exportedEvent = f.named('ExportedEvent', 'An event of a session with its sequence.', {
  sequence: f.place('Its sequence in the log of the session.'),
  after: f.place('The sequence that its append expected.').exactOptional(),
  event: z
    .object({ type: f.string('Type of the event.') })
    .catchall(z.unknown().describe('Further fields.'))
    .describe('The event, in the event schemas.'),
});

const stored = f.named('StoredCounts', 'How much is stored, by kind.', {
  events: f.count('Events.'),
  dispatches: f.count('Results as they were published.'),
  rejected: f.count('Messages of rejected results.'),
  snapshots: f.count('Snapshots.'),
  prompts: f.count('Compiled prompts.'),
  index: f.count('Entries of the index of sessions.'),
  learnings: f.count('Proposals, learnings and review demands erased, or losing a source.'),
});

export type StoredCounts = f.Output<typeof stored>;

const progress = {
  state: f.oneOf('counted: dry run; running: the keeper erases it; done: forgotten before.', [
    'counted',
    'running',
    'done',
  ]),
  found: stored.describe('What is stored now.'),
  forgotten: f.mark('It had been forgotten before, and nothing was left.'),
};

const rule = f.named('RetentionRule', 'What happens to sessions without activity.', {
  project: f.string('Left out for the rule of the whole installation.').exactOptional(),
  action: f.oneOf('What happens to a session.', RETENTION_ACTIONS),
  after: f.string('Days without activity, such as 90d.').exactOptional(),
  at: f.time('When it was set'),
});

const retention = z.object({
  rules: f.list('The rules. Without rules everything is kept.', rule),
  archive: f.count('Sessions that the rules would archive now.'),
  forget: f.count('Sessions that the rules would forget now.'),
});

export const serviceHealth = f.named('ServiceHealth', 'Health of one service instance.', {
  service: f.string('Name of the service.'),
  id: f.string('Id of the instance.'),
  version: f.string('Its version.'),
  requests: f.count('Requests that it has answered, errors included.'),
  errorReplies: f.count('Requests that it has refused or failed.'),
  host: f.string('The machine or container that it runs on.').exactOptional(),
  pid: z.int().exactOptional().describe('Its process id there.'),
  uptimeSeconds: z.number().exactOptional().describe('Seconds since it started.'),
  connected: f.boolean('Whether it is connected.').exactOptional(),
  disconnects: f.count('How often it has lost its connection.').exactOptional(),
  warnings: f.count('Warnings that it has logged.').exactOptional(),
  errors: f.count('Errors that it has logged.').exactOptional(),
  lastIncident: f
    .object('The last warning or error.', {
      at: f.time('When it was'),
      message: f.string('What happened.'),
      code: f.string('A stable error code.').exactOptional(),
    })
    .exactOptional(),
  numbers: z
    .record(z.string(), z.unknown().describe('Any JSON value.'))
    .describe('Figures of that service, such as memory, work in flight and repairs.'),
});

const missing = f.named('MissingPart', 'A part of the answer that timed out or failed.', {
  part: f.oneOf('The part of the answer.', ['services', 'results']),
  code: f.string('Why it is missing: a stable error code.'),
  message: f.string('Why it is missing, for people.'),
});

export const SESSION_REQUESTS = {
  'tool.session-open': command(
    'set the title and the goal of the session',
    {
      cli: 'session open',
      example: {
        title: 'Query parser',
        goal: 'A parser for the query language',
        specPath: 'specs/parser.md',
      },
    },
    {
      title: text(200).optional().describe('Title, shown in lists; one line, may be changed.'),
      goal: content.optional().describe('Goal of the session.'),
      spec: text(MAX_SPEC).optional().describe('The specification itself.'),
      specPath: text(1024).optional().describe('Path of the specification.'),
      project: text(64).optional().describe('The project whose learnings it uses.'),
      person,
    },
    session,
  ),
  'tool.session-complete': command(
    'complete the session when tasks are done and reviews are settled',
    { cli: 'session complete', example: { force: true, reason: 'The rest moved to the next release' } },
    {
      force: flag.describe('Complete it although tasks or fixes are open; needs a reason.'),
      reason: content.optional().describe('Why, in words.'),
    },
    session,
  ),
  'tool.session-restart': command(
    'reopen a completed session',
    { cli: 'session restart', example: { reason: 'One more fix' } },
    { reason: content.optional().describe('Why, in words.') },
    session,
  ),
  'tool.session-archive': command(
    'archive the session: it becomes read-only, and a snapshot replaces its log',
    { cli: 'session archive', example: { reason: 'Shipped in 2.0' }, agents: false },
    { reason: content.optional().describe('Why, in words.') },
    session,
  ),
  'tool.session-reopen': command(
    'reopen an archived session',
    { cli: 'session reopen', example: { reason: 'A bug was found' }, agents: false },
    { reason: content.optional().describe('Why, in words.') },
    session,
  ),
  'tool.session-list': wideQuery(
    'list the sessions: waiting for a person, then stalled, then the newest',
    { cli: 'session ls', example: { stalled: true } },
    {
      text: text(200)
        .optional()
        .describe('Only sessions with these words, as in title, goal, questions or files.'),
      status: f
        .oneOf('Only sessions that are open, completed, or archived.', ['open', 'completed', 'archived'])
        .optional(),
      names: z.array(text(64)).max(200, 'must name at most 200').optional().describe('Only these sessions.'),
      active: flag.describe('Only open sessions with an event within 24 hours.'),
      olderThan: z
        .string()
        .regex(SPAN_PATTERN, 'must be a number with m, h or d, such as 90m, 12h or 30d')
        .optional()
        .describe('Only sessions without an event for this long, such as 30d.'),
      since: moment('Only sessions with an event at this time or later.'),
      archived: flag.describe('Include archived sessions.'),
      project: text(64).optional().describe('Only sessions of this project.'),
      stalled: flag.describe('Only sessions with a stalled task.'),
      brief: flag.describe('Only names and times; only the filter text works with it.'),
      limit: limit(200, 50),
      cursor,
    },
    sessionList,
  ),
  'tool.telemetry-show': query(
    'show what was counted of the session: results, prompts, progress',
    { cli: 'session telemetry' },
    {},
    z.object({
      session: f.string('The session.'),
      sequence: f.place('Session sequence that the answer reflects.'),
      dispatches: counts('Counted results by role, and rejected ones.'),
      rejections: counts('Kept rejected results by error code, of the newest 1,000.'),
      approvalLoops: f.count('How often tasks were reviewed without an approval.'),
      rebuilds: f.count('How often the plan was read again.'),
      compiles: f.count('Prompts kept, at most the newest 200; the rest is of these.'),
      ledgerModes: counts('Prompts by ledger mode.'),
      fallbacks: counts('Prompts without the progress ledger, by reason.'),
      shortened: f.count('Prompts that left something out to fit their budget.'),
      tokensWanted: f.count('Tokens of all prompts if nothing had been left out.'),
      tokensUsed: f.count('Tokens of all prompts.'),
      retrievalMs: z
        .number()
        .describe('Time from request to reply, in milliseconds, of all prompts together.'),
      retrievalMaxMs: z.number().describe('The longest of these times.'),
    }),
  ),
  'tool.health-show': wideQuery(
    'show how the services do, and what has become of results',
    { cli: 'status' },
    {},
    z.object({
      at: f.time('When it was asked'),
      services: f.list('Every instance of every service that answered.', serviceHealth),
      results: f
        .object('Results by what has become of them.', {
          stored: f.count('Stored results.'),
          waiting: f.count('Results among them that are not folded yet.'),
          rejected: f.count('Messages of rejected results.'),
        })
        .exactOptional(),
      missing: f.list('Parts that timed out or failed, and why.', missing),
    }),
  ),
  'tool.session-export': query(
    'list the events of the session whole, the oldest first',
    { cli: 'session export', agents: false },
    { cursor },
    z.object({
      session: f.string('Name of the session.'),
      events: f.list('The events, the oldest first: as many as fit one reply.', exportedEvent),
      skipped: f.count('Messages in between that this version cannot read as events.'),
      sequence: f.place('Sequence of the newest event at the first page; paging ends there.'),
      next: f.next,
    }),
  ),
  'tool.session-import': command(
    'make a session from a state, or add history to it',
    { cli: 'session import', example: { id: '4f1c' }, agents: false },
    {
      id: text(64).describe('Unique to this import: a repeated request is stored once.'),
      checkpoint: importedCheckpoint.optional().describe('The state that the new session begins with.'),
      history: z
        .array(sessionFileEvent.shape.event)
        .max(MOST_EVENTS, `must be at most ${MOST_EVENTS}`)
        .default([])
        .describe('Next events of the file: they are listed, and change nothing.'),
      from: z.int().nonnegative().default(0).describe('Number of events of the history before these.'),
    },
    z.object({
      session: f.string('Name of the session.'),
      sequence: f.place('Sequence of the newest event that the import stored; 0 for none.'),
    }),
  ),
  'tool.session-forget': command(
    'erase a session for good: events, results, snapshots, prompts, evidence in learnings',
    { cli: 'session rm', example: { confirm: 'demo' }, agents: false },
    {
      confirm: text(64).optional().describe('The name of the session once more, except for a dry run.'),
      dryRun: flag.describe('Only count what would be erased.'),
      withLearnings: flag.describe('Also remove accepted learnings that only this session supports.'),
    },
    z.object({ session: f.string('Name of the session.'), ...progress }),
  ),
  'tool.retention-show': wideQuery(
    'show the rules of retention, and what they would do now',
    { cli: 'admin retention show' },
    {},
    retention,
  ),
  'tool.retention-set': wideCommand(
    'set what the keeper does with inactive sessions, everywhere or per project',
    { cli: 'admin retention set', example: { action: 'archive', after: '90d' }, agents: false },
    {
      project: sessionName.optional().describe('Only for sessions of this project.'),
      action: f.oneOf('archive, forget or keep; remove deletes the rule.', [...RETENTION_ACTIONS, 'remove']),
      after: z
        .string()
        .regex(DAYS_PATTERN, 'must be a number of days, such as 90d')
        .optional()
        .describe('Age since the last event, such as 90d, to archive or forget.'),
      dryRun: flag.describe('Only show what the rules would do.'),
    },
    retention,
  ),
} as const;

export type ServiceHealth = f.Output<typeof serviceHealth>;
export type MissingPart = f.Output<typeof missing>;
