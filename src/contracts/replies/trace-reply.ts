import { z } from 'zod';
import { pinnedText, storedEntry } from '../trace-entry.js';
import { compacted } from './compile-reply.js';
import { count, next, place, sequence, type Told, time } from './page-fields.js';

export const traceAppended = z.object({
  appended: count('Entries that were stored.'),
  malformed: z
    .array(
      z.object({
        index: count('Index in the request.'),
        message: z.string().describe('The problem.'),
      }),
    )
    .describe('Entries that could not be read.'),
  sequence,
});

export const traceCompacted = z.object({
  summary: z.string().nullable().describe('The compacted history; null below the threshold.'),
  compacted: compacted.describe('The size of the summary; null below the threshold.'),
  recent: z.array(z.string()).describe('Entries since, one line each.'),
  total: count('Entries of the intent.'),
  malformed: count('Entries of the whole session that could not be read.'),
  withoutIntent: count('Entries of the whole session that named no intent.'),
  sequence,
});

export const traceFound = z.object({
  entry: storedEntry.describe('The newest entry with the id, as its event stores it.'),
  at: time('When its event was written'),
  sequence: place('Sequence of its event.'),
});

export const tracePinned = z.object({
  pinned: pinnedText.describe('The new constraint of the intent.'),
  sequence: place('Sequence of its event.'),
});

export const tracesListed = z.object({
  intents: z
    .array(
      z
        .object({
          id: z.string().describe('Id of the intent.'),
          entries: count('Number of its entries.'),
          compacted: count('Entries that its summary stands for.'),
          blocks: count('Blocks in which they were compacted.'),
          request: z.string().exactOptional().describe('What was asked for, up to 300 characters.'),
          last: z
            .string()
            .exactOptional()
            .describe('Its newest entry in one line, if that is not compacted yet.'),
        })
        .meta({ id: 'IntentListed', description: 'An intent with a trace.' }),
    )
    .describe('Remembered intents, the most recent first.'),
  total: count('All of them.'),
  next,
  sequence,
});

export type TracesListed = Told<typeof tracesListed>;
/** The outcome of appending trace entries. */
export type TraceAppended = Told<typeof traceAppended>;
/** The compacted history of an intent. */
export type TraceCompacted = Told<typeof traceCompacted>;
/** A trace entry as its event keeps it. */
export type TraceFound = Told<typeof traceFound>;
/** The constraint made from an entry. */
export type TracePinned = Told<typeof tracePinned>;
