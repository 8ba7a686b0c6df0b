import { z } from 'zod';
import { timestamp } from './event.js';
import type { Told } from './replies/page-fields.js';
import { figures } from './replies/session-reply.js';
import { type StoredEvent, sessionEvent } from './session-events.js';

/**
 * A session as a file of JSON lines: what it is of, its events, the oldest first, and a last line that tells a file which is
 * whole. It is read by this version or a later one.
 */
export const SESSION_FILE_VERSION = 1;

/** The first line. */
export const sessionFileHead = z.object({
  throughline: z.literal('session', 'must be "session": the file is not one of "throughline session export"'),
  v: z.literal(
    SESSION_FILE_VERSION,
    `must be ${SESSION_FILE_VERSION}: a later version has written this file`,
  ),
  session: z.string(),
  project: z.string().optional(),
  /** Sequence of its newest event. */
  sequence: z.int().positive(),
  /** Version of the product. */
  version: z.string(),
  at: timestamp,
});

const place = z.int().nonnegative().optional();

/** Each line between the first and the last. */
export const sessionFileEvent = z.object({
  sequence: z.int().positive(),
  after: place,
  decidedOn: place,
  event: sessionEvent,
});

/** The last line: how many events there are, and the SHA-256 of all lines before with their line breaks. */
export const sessionFileEnd = z.object({
  events: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

export type SessionFileHead = z.output<typeof sessionFileHead>;
export type SessionFileEnd = z.output<typeof sessionFileEnd>;

/** An event as a log holds it: nothing stands where nothing was said. */
export function placed({
  sequence,
  after,
  decidedOn,
  event,
}: z.output<typeof sessionFileEvent>): StoredEvent {
  return {
    sequence,
    event,
    ...(after !== undefined && { after }),
    ...(decidedOn !== undefined && { decidedOn }),
  };
}

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
