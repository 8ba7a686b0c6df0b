import { z } from 'zod';
import { boolean, count, named, type Output, object, oneOf, string, time } from '../schema-fields.js';

export const serviceHealth = named('ServiceHealth', 'Health of one service instance.', {
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

export const finding = named('HealthFinding', 'One finding of the doctor.', {
  check: string('What was checked.'),
  level: oneOf('warn: works, but not for long or as intended; fail: does not.', ['ok', 'warn', 'fail']),
  message: string('What was found.'),
  fix: string('The suggested fix.').exactOptional(),
});

export const missing = named('MissingPart', 'A part of the answer that timed out or failed.', {
  part: oneOf('The part of the answer.', ['services', 'results', 'findings']),
  code: string('Why it is missing: a stable error code.'),
  message: string('Why it is missing, for people.'),
});

export type ServiceHealth = Output<typeof serviceHealth>;
export type HealthFinding = Output<typeof finding>;
export type MissingPart = Output<typeof missing>;
