import { z } from 'zod';
import { figures } from './replies/session-list-reply.js';
import type { Told } from './replies/told.js';

/** What the bucket `session_index` holds of a session: how far it was folded, and what a list shows of it. */
export const sessionIndexEntry = z.object({
  v: z.literal(1),
  /** Sequence of the last event in the figures. */
  sequence: z.number(),
  /** When the session moved last: ISO 8601 in UTC. */
  at: z.iso.datetime(),
  figures,
});
export type SessionIndexEntry = Told<typeof sessionIndexEntry>;
