import { z } from 'zod';
import { ROLES } from '../kinds.js';
import { count, place, sequence, time } from './reply-fields.js';
import type { Told } from './told.js';

/** The reply of `snapshot-show`. */
export const snapshotShown = z.object({
  after: place('Sequence of the last event folded into it.'),
  createdAt: time('When it was written'),
  bytes: count('Bytes of its text.'),
  facts: count('Facts that hold in it.'),
  dispatches: z
    .record(z.enum([...ROLES, 'rejected']), z.int())
    .describe('Results since the session began, by role, and those that were rejected.'),
  text: z.string().exactOptional().describe('The snapshot itself, where the request asks for the whole.'),
  sequence,
});

export type SnapshotShown = Told<typeof snapshotShown>;
