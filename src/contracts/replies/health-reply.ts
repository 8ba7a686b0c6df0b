import { z } from 'zod';
import { count, place, type Told, time } from './page-fields.js';

const counts = (about: string) => z.record(z.string(), z.number().describe('How many.')).describe(about);

const serviceHealth = z
  .object({
    service: z.string().describe('Name of the service.'),
    id: z.string().describe('Id of the instance.'),
    version: z.string().describe('Its version.'),
    requests: count('Requests that it has answered, errors included.'),
    errorReplies: count('Requests that it has refused or failed.'),
    host: z.string().exactOptional().describe('The machine or container that it runs on.'),
    pid: z.int().exactOptional().describe('Its process id there.'),
    uptimeSeconds: z.number().exactOptional().describe('Seconds since it started.'),
    connected: z.boolean().exactOptional().describe('Whether it is connected.'),
    disconnects: count('How often it has lost its connection.').exactOptional(),
    warnings: count('Warnings that it has logged.').exactOptional(),
    errors: count('Errors that it has logged.').exactOptional(),
    lastIncident: z
      .object({
        at: time('When it was'),
        message: z.string().describe('What happened.'),
        code: z.string().exactOptional().describe('A stable error code.'),
      })
      .exactOptional()
      .describe('The last warning or error.'),
    numbers: z
      .record(z.string(), z.unknown().describe('Any JSON value.'))
      .describe('Figures of that service, such as memory, work in flight and repairs.'),
  })
  .meta({ id: 'ServiceHealth', description: 'Health of one service instance.' });

const finding = z
  .object({
    check: z.string().describe('What was checked.'),
    level: z
      .enum(['ok', 'warn', 'fail'])
      .describe('warn works, but not for long or not as intended; fail does not work.'),
    message: z.string().describe('What was found.'),
    fix: z.string().exactOptional().describe('The suggested fix.'),
  })
  .meta({ id: 'HealthFinding', description: 'One finding of the doctor.' });

const missing = z
  .object({
    part: z.enum(['services', 'results', 'findings']).describe('The part of the answer.'),
    code: z.string().describe('Why it is missing: a stable error code.'),
    message: z.string().describe('Why it is missing, for people.'),
  })
  .meta({ id: 'MissingPart', description: 'A part of the answer that timed out or failed.' });

export const HEALTH_REPLIES = {
  'health-show': z.object({
    at: time('When it was asked'),
    services: z.array(serviceHealth).describe('Every instance of every service that answered.'),
    results: z
      .object({
        stored: count('Stored results.'),
        waiting: count('Results among them that are not folded yet.'),
        rejected: count('Messages of rejected results.'),
      })
      .exactOptional()
      .describe('Results by what has become of them.'),
    findings: z
      .array(finding)
      .exactOptional()
      .describe("Findings of the doctor's read-only checks; up to 30 seconds old."),
    findingsAt: time('When the doctor looked').exactOptional(),
    missing: z.array(missing).describe('Parts that timed out or failed, and why.'),
  }),
  'telemetry-show': z.object({
    session: z.string().describe('The session.'),
    sequence: place('Session sequence that the answer reflects.'),
    dispatches: counts('Counted results by role, and rejected ones.'),
    rejections: counts('Rejected results that are still kept, by error code; of the newest 1,000.'),
    approvalLoops: count('How often tasks were reviewed without an approval.'),
    rebuilds: count('How often the plan was read again.'),
    compilers: count('Compilers that reported counts not stored yet.'),
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

export type ServiceHealth = Told<typeof serviceHealth>;
export type HealthFinding = Told<typeof finding>;
export type MissingPart = Told<typeof missing>;
export type HealthShown = Told<(typeof HEALTH_REPLIES)['health-show']>;
