import { z } from 'zod';
import { timestamp } from './event.js';
import { forgottenKey, sessionOfArchivedKey, type Token, token } from './names.js';

/**
 * What the bucket `session_lifecycle` records of sessions, beside their events: few records, since most sessions have
 * none. Every service looks at them from memory.
 */

const sessionName = z.string().transform((name, context): Token => {
  try {
    return token(name, 'session');
  } catch {
    context.addIssue('not the name of a session');
    return z.NEVER;
  }
});

const projectName = z.string().transform((name, context): Token => {
  try {
    return token(name, 'project');
  } catch {
    context.addIssue('not the name of a project');
    return z.NEVER;
  }
});

const archived = z.object({
  v: z.literal(1),
  status: z.literal('archived'),
  at: timestamp,
  reason: z.string().optional(),
  /** Where a rule of retention has archived it: when it had moved last. */
  idle_since: timestamp.optional(),
  /** Its log still has to give way to its checkpoint. */
  pending: z.literal(true).optional(),
  /** It is not a session yet: its events are being imported, and only the import may add events. */
  importing: z
    .object({
      /** SHA-256 of the file, as its last line says. */
      file: z.string(),
      /** The highest dispatch that its events name. */
      dispatches: z.int().nonnegative(),
      /** Whether all processes know of it, and new results have higher numbers. */
      ready: z.boolean(),
    })
    .optional(),
});

const forgotten = z.object({
  v: z.literal(1),
  status: z.enum(['forgetting', 'forgotten']),
  at: timestamp,
  /** Last sequence of the stream of dispatches then: no result up to it may become an event of the session again. */
  dispatches: z.int().nonnegative(),
  /** Last sequence of an event of the session then: its next log starts above, and a snapshot up to it is not one. */
  sequence: z.int().nonnegative(),
  /** The same numbers when it was first recorded: what came later belongs to the next session of the name. */
  begun: z.object({ dispatches: z.int().nonnegative(), sequence: z.int().nonnegative() }).optional(),
  /** Whether the numbers are those from which nothing of the old session can come any more; then it may be erased. */
  settled: z.boolean().optional(),
  /** Whether accepted learnings that rest on it alone go, too. */
  with_learnings: z.boolean().optional(),
  /** Who erases it: another one takes over once the record is old. */
  by: z.string().optional(),
  /** The project that is forgotten with it, whose learnings go last. */
  project: projectName.optional(),
  /** Until it is settled: it is forgotten only if this is still its newest event, and no result was stored since then. */
  unless_moved: z.object({ sequence: z.int().nonnegative(), since: timestamp }).optional(),
  /** Its name, while something is left to erase. */
  session: sessionName.optional(),
});

/** Under `archived.<session>`: the session takes no results. */
export type Archived = z.output<typeof archived>;
/** Under `forgotten.<hash of its name>`: the session is being erased, or was. */
export type Forgotten = z.output<typeof forgotten>;

/** A record with what its key says. */
export type LifecycleRecord =
  | { readonly kind: 'archived'; readonly session: Token; readonly record: Archived }
  | { readonly kind: 'forgotten'; readonly record: Forgotten };

/** Reads a record, or gives `undefined` for anything else. */
export function lifecycleRecord(key: string, json: unknown): LifecycleRecord | undefined {
  const session = sessionOfArchivedKey(key);
  if (session !== undefined) {
    const { data: record } = archived.safeParse(json);
    return record && { kind: 'archived', session, record };
  }
  const { data: record } = forgotten.safeParse(json);
  if (record === undefined || !FORGOTTEN_KEY.test(key)) return undefined;
  // A name that stands under the key of another would have that one taken for it.
  const isNamed = record.session === undefined || forgottenKey(record.session) === key;
  return isNamed ? { kind: 'forgotten', record } : undefined;
}

const FORGOTTEN_KEY = /^forgotten\.[0-9a-f]{40}$/;
