import { z } from 'zod';
import { sessionEvent } from './session-events.js';
import { cursor, tool } from './tool-shape.js';

const MOST_EVENTS = 1000;

const place = z.int().nonnegative().optional();
const importedEvent = z.object({
  sequence: z.int().positive().describe('Its number in the file: 1, 2, 3 …'),
  after: place.describe('The number of the event that it was stored directly behind.'),
  decidedOn: place.describe('The number of the event that it was decided on.'),
  event: sessionEvent.describe('The event.'),
});

/** The tools that carry whole sessions, to a file and from one. */
export const EXPORT_TOOLS = {
  'session-export': tool('list the events of the session whole, the oldest first', '', { cursor }),
  'session-import': tool(
    'take in the events of a file, a page at a time',
    '--file 0f3a --dispatches 0 --done',
    {
      file: z.string().min(1).max(64).describe('Names the file: the SHA-256 in its last line.'),
      dispatches: z
        .int()
        .nonnegative()
        .describe('The highest dispatch that an event of the file names: new results get higher numbers.'),
      events: z
        .array(importedEvent)
        .max(MOST_EVENTS, `must be at most ${MOST_EVENTS}`)
        .optional()
        .describe('The next events of the file. None: begin, and tell how far it is.'),
      done: z.boolean().default(false).describe('All events are there: from now on it is a session.'),
    },
  ),
} as const;
