import { z } from 'zod';
import { compacted } from './replies/compile-reply.js';
import { cursor, limit, ofSession, query, sessionName } from './request-row.js';
import * as f from './schema-fields.js';
import { storedEntry, traceKey } from './trace-entry.js';

export const MAX_ENTRIES = 500;

export const traceAppendRequest = z.object({
  session: sessionName,
  entries: z
    .array(z.unknown())
    .min(1, 'must hold at least one entry')
    .max(500, 'must hold at most 500 entries')
    .describe('The entries.'),
});

export const TRACE_REQUESTS = {
  'trace.append': ofSession(
    false,
    'add entries to the trace of an intent',
    'publish trace',
    traceAppendRequest,
    z.object({
      appended: f.count('Entries that were stored.'),
      malformed: f.list(
        'Entries that could not be read.',
        z.object({ index: f.count('Index in the request.'), message: f.string('The problem.') }),
      ),
      sequence: f.sequence,
    }),
  ),
  'trace.compact': ofSession(
    true,
    'the compacted history of an intent',
    'log',
    z.object({ session: sessionName, intentId: traceKey.describe('Id of the intent.') }),
    z.object({
      summary: z.string().nullable().describe('The compacted history; null below the threshold.'),
      compacted: compacted.describe('The size of the summary; null below the threshold.'),
      recent: f.strings('Entries since, one line each.'),
      total: f.count('Entries of the intent.'),
      malformed: f.count('Entries of the whole session that could not be read.'),
      withoutIntent: f.count('Entries of the whole session that named no intent.'),
      sequence: f.sequence,
    }),
  ),
  'trace.get': ofSession(
    true,
    'an entry as its event keeps it, with its output',
    'log',
    z.object({
      session: sessionName,
      id: traceKey.describe('Id of the entry, as summary and recent lines show it.'),
      intentId: traceKey.optional().describe('The intent, if entries of several intents have the id.'),
    }),
    z.object({
      entry: storedEntry.describe('The newest entry with the id, as its event stores it.'),
      at: f.time('When its event was written'),
      sequence: f.place('Sequence of its event.'),
    }),
  ),
  'tool.trace-list': query(
    'list the intents that have a trace',
    { cli: 'log' },
    { limit: limit(200, 50), cursor },
    z.object({
      intents: f.list(
        'Remembered intents, the most recent first.',
        f.named('IntentListed', 'An intent with a trace.', {
          id: f.string('Id of the intent.'),
          entries: f.count('Number of its entries.'),
          compacted: f.count('Entries that its summary stands for.'),
          blocks: f.count('Blocks in which they were compacted.'),
          request: f.string('What was asked for, up to 300 characters.').exactOptional(),
          last: f.string('Its newest entry in one line, if that is not compacted yet.').exactOptional(),
        }),
      ),
      total: f.count('All of them.'),
      next: f.next,
      sequence: f.sequence,
    }),
  ),
} as const;

export type TracesListed = f.Output<(typeof TRACE_REQUESTS)['tool.trace-list']['reply']>;
export type TraceAppended = f.Output<(typeof TRACE_REQUESTS)['trace.append']['reply']>;
export type TraceFound = f.Output<(typeof TRACE_REQUESTS)['trace.get']['reply']>;
