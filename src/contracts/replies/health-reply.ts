import { z } from 'zod';
import {
  boolean,
  count,
  list,
  named,
  type Output,
  object,
  oneOf,
  place,
  string,
  time,
} from '../schema-fields.js';

const counts = (about: string) => z.record(z.string(), z.number().describe('How many.')).describe(about);

const serviceHealth = named('ServiceHealth', 'Health of one service instance.', {
  service: string('Name of the service.'),
  id: string('Id of the instance.'),
  version: string('Its version.'),
  requests: count('Requests that it has answered, errors included.'),
  errorReplies: count('Requests that it has refused or failed.'),
  host: string('The machine or container that it runs on.').exactOptional(),
  pid: z.int().exactOptional().describe('Its process id there.'),
  uptimeSeconds: z.number().exactOptional().describe('Seconds since it started.'),
  connected: boolean('Whether it is connected.').exactOptional(),
  disconnects: count('How often it has lost its connection.').exactOptional(),
  warnings: count('Warnings that it has logged.').exactOptional(),
  errors: count('Errors that it has logged.').exactOptional(),
  lastIncident: object('The last warning or error.', {
    at: time('When it was'),
    message: string('What happened.'),
    code: string('A stable error code.').exactOptional(),
  }).exactOptional(),
  numbers: z
    .record(z.string(), z.unknown().describe('Any JSON value.'))
    .describe('Figures of that service, such as memory, work in flight and repairs.'),
});

const finding = named('HealthFinding', 'One finding of the doctor.', {
  check: string('What was checked.'),
  level: oneOf('warn works, but not for long or not as intended; fail does not work.', [
    'ok',
    'warn',
    'fail',
  ]),
  message: string('What was found.'),
  fix: string('The suggested fix.').exactOptional(),
});

const missing = named('MissingPart', 'A part of the answer that timed out or failed.', {
  part: oneOf('The part of the answer.', ['services', 'results', 'findings']),
  code: string('Why it is missing: a stable error code.'),
  message: string('Why it is missing, for people.'),
});

export const HEALTH_REPLIES = {
  'health-show': z.object({
    at: time('When it was asked'),
    services: list('Every instance of every service that answered.', serviceHealth),
    results: object('Results by what has become of them.', {
      stored: count('Stored results.'),
      waiting: count('Results among them that are not folded yet.'),
      rejected: count('Messages of rejected results.'),
    }).exactOptional(),
    findings: list(
      "Findings of the doctor's read-only checks; up to 30 seconds old.",
      finding,
    ).exactOptional(),
    findingsAt: time('When the doctor looked').exactOptional(),
    missing: list('Parts that timed out or failed, and why.', missing),
  }),
  'telemetry-show': z.object({
    session: string('The session.'),
    sequence: place('Session sequence that the answer reflects.'),
    dispatches: counts('Counted results by role, and rejected ones.'),
    rejections: counts('Rejected results that are still kept, by error code; of the newest 1,000.'),
    approvalLoops: count('How often tasks were reviewed without an approval.'),
    rebuilds: count('How often the plan was read again.'),
    compiles: count('Prompts compiled.'),
    errors: counts('Requests for prompts that were refused or failed, by error code.'),
    ledgerModes: counts('Prompts by ledger mode.'),
    fallbacks: counts('Prompts without the progress ledger, by reason.'),
    shortened: count('Prompts that left something out to fit their budget.'),
    tokensWanted: count('Tokens of all prompts if nothing had been left out.'),
    tokensUsed: count('Tokens of all prompts.'),
    retrievalMs: z.number().describe('Time from request to reply, in milliseconds, of all prompts together.'),
    retrievalMaxMs: z.number().describe('The longest of these times.'),
  }),
} as const;

export type ServiceHealth = Output<typeof serviceHealth>;
export type HealthFinding = Output<typeof finding>;
export type MissingPart = Output<typeof missing>;
export type HealthShown = Output<(typeof HEALTH_REPLIES)['health-show']>;
