import { z } from 'zod';
import { pinnedText, storedEntry } from '../trace-entry.js';
import { compacted } from './compile-reply.js';
import { count, place, sequence, time } from './reply-fields.js';
import type { Told } from './told.js';

/** The replies of `trace.*`. */

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

export type TraceAppended = Told<typeof traceAppended>;
export type TraceCompacted = Told<typeof traceCompacted>;
/** A trace entry as its event keeps it. */
export type TraceFound = Told<typeof traceFound>;
export type TracePinned = Told<typeof tracePinned>;
