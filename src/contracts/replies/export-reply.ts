import { z } from 'zod';
import { next } from './page-fields.js';
import { count, place } from './reply-fields.js';

/** The replies of the tools that carry whole sessions. */

const exportedEvent = z
  .object({
    sequence: place('Its sequence in the log of the session.'),
    after: place('The sequence that it was stored directly behind.').exactOptional(),
    decidedOn: place('The sequence that it was decided on, whatever came in between.').exactOptional(),
    event: z
      .object({ type: z.string().describe('Type of the event.') })
      .catchall(z.unknown().describe('What else it holds.'))
      .describe('The event, as the schemas of events say.'),
  })
  .meta({ id: 'ExportedEvent', description: 'An event of a session with its place in the log.' });

export const EXPORT_REPLIES = {
  'session-export': z.object({
    session: z.string().describe('Name of the session.'),
    events: z.array(exportedEvent).describe('The events, the oldest first: as many as fit one reply.'),
    skipped: count('Messages of the log between them that this version cannot read as events.'),
    sequence: place('Sequence of the newest event when the first page was made: the last page ends there.'),
    next,
  }),
  'session-import': z.object({
    session: z.string().describe('Name of the session.'),
    state: z
      .enum(['numbers', 'importing', 'done'])
      .describe(
        'Whether numbers of dispatches are still moved up, events are taken in, or it is a session. Of the first, ask again.',
      ),
    events: count('Events of the file that are there: send what comes after.'),
    dispatches: place('Of numbers: how far they are.').exactOptional(),
  }),
} as const;
