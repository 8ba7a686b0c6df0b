import { z } from 'zod';
import {
  count,
  list,
  named,
  next,
  type Output,
  place,
  sequence,
  string,
  strings,
  time,
} from '../schema-fields.js';
import { pinnedText, storedEntry } from '../trace-entry.js';
import { compacted } from './compile-reply.js';

export const traceAppended = z.object({
  appended: count('Entries that were stored.'),
  malformed: list(
    'Entries that could not be read.',
    z.object({
      index: count('Index in the request.'),
      message: string('The problem.'),
    }),
  ),
  sequence,
});

export const traceCompacted = z.object({
  summary: z.string().nullable().describe('The compacted history; null below the threshold.'),
  compacted: compacted.describe('The size of the summary; null below the threshold.'),
  recent: strings('Entries since, one line each.'),
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
  intents: list(
    'Remembered intents, the most recent first.',
    named('IntentListed', 'An intent with a trace.', {
      id: string('Id of the intent.'),
      entries: count('Number of its entries.'),
      compacted: count('Entries that its summary stands for.'),
      blocks: count('Blocks in which they were compacted.'),
      request: string('What was asked for, up to 300 characters.').exactOptional(),
      last: string('Its newest entry in one line, if that is not compacted yet.').exactOptional(),
    }),
  ),
  total: count('All of them.'),
  next,
  sequence,
});

export type TracesListed = Output<typeof tracesListed>;
export type TraceAppended = Output<typeof traceAppended>;
export type TraceFound = Output<typeof traceFound>;
