import { z } from 'zod';
import { timestamp } from './event.js';
import { sessionEvent } from './session-events.js';

/**
 * A session as JSON lines: a head, the events from the oldest, and an end that proves the file is complete. Readable by
 * this and later versions.
 */
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
