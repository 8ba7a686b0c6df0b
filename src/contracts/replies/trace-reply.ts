import { z } from 'zod';
import { pinnedText, recordedEntry, storedEntry } from '../trace-entry.js';
import { compacted } from './compile-reply.js';
import { count, next, place, sequence, type Told, time } from './page-fields.js';

export const traceAppended = z.object({
  appended: count('Entries that were stored.'),
  malformed: z
    .array(
      z.object({
        index: count('Place in the request, 0 for the first.'),
        message: z.string().describe('What is wrong with it.'),
      }),
    )
    .describe('Entries that could not be read.'),
  sequence,
});

export const traceCompacted = z.object({
  summary: z.string().nullable().describe('The compacted history; null below the threshold.'),
  compacted: compacted.describe('What the summary stands for; null below the threshold.'),
  recent: z.array(z.string()).describe('Entries since, one line each.'),
  total: count('Entries of the intent.'),
  malformed: count('Entries of the whole session that could not be read.'),
  withoutIntent: count('Entries of the whole session that named no intent.'),
  sequence,
});

export const traceFound = z.object({
  entry: storedEntry.describe('The newest entry of the id, as its event keeps it.'),
  at: time('When its event was written'),
  sequence: place('Sequence of its event.'),
});

export const tracePinned = z.object({
  pinned: pinnedText.describe('What is kept as a constraint of the intent from now on.'),
  sequence: place('Sequence of the event that keeps it.'),
});

export const tracesListed = z.object({
  intents: z
    .array(
      z
        .object({
          id: z.string().describe('Id of the intent.'),
          entries: count('Entries that it has had.'),
          compacted: count('Entries that its summary stands for.'),
          blocks: count('Blocks in which they were compacted.'),
          request: z.string().exactOptional().describe('What was asked for, up to 300 characters.'),
          last: z
            .string()
            .exactOptional()
            .describe('Its newest entry in one line, where it is not compacted yet.'),
        })
        .meta({ id: 'IntentListed', description: 'An intent with a trace.' }),
    )
    .describe('The intents that are remembered, the one that was added to last first.'),
  total: count('All of them.'),
  next,
  sequence,
});

export const traceShown = z.object({
  intent: z.string().describe('Id of the intent.'),
  entries: z
    .array(
      z
        .object({
          entry: recordedEntry.describe('The entry, its output in one line: trace.get has all of it.'),
          line: z.string().describe('What it says, one line.'),
          at: time('When its event was written'),
          sequence: place('Sequence of its event.'),
        })
        .meta({ id: 'TraceLine', description: 'An entry of a trace with its event.' }),
    )
    .describe(
      'The newest first. A page may hold fewer than asked for, even none, where few of many events fit: go on while there is a next.',
    ),
  next,
  sequence,
});

export type TracesListed = Told<typeof tracesListed>;
export type TraceShown = Told<typeof traceShown>;
/** The outcome of appending trace entries. */
export type TraceAppended = Told<typeof traceAppended>;
/** The compacted history of an intent. */
export type TraceCompacted = Told<typeof traceCompacted>;
/** A trace entry as its event keeps it. */
export type TraceFound = Told<typeof traceFound>;
/** The constraint made from an entry. */
export type TracePinned = Told<typeof tracePinned>;
