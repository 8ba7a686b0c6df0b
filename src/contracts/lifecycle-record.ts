import { z } from 'zod';
import { TERM_PATTERN } from '../shared/text.js';
import { timestamp } from './event.js';
import { forgottenKey, isToken, sessionOfArchivedKey, type Token } from './names.js';

/** The records in the bucket `session_lifecycle`, which are few. Every service watches them in memory. */

const name = z.custom<Token>(isToken);

const archived = z.object({
  v: z.literal(1),
  status: z.literal('archived'),
  at: timestamp,
  reason: z.string().optional(),
  /** Set by a retention rule: the time of the last event. */
  idle_since: timestamp.optional(),
  /** Its log has not been replaced by its checkpoint yet. */
  pending: z.literal(true).optional(),
  /** Set during an import: only the import may add events. */
  importing: z
    .object({
      /** SHA-256 of the file. */
      file: z.string(),
      /** The highest dispatch that its events name. */
      dispatches: z.int().nonnegative(),
      /** True once every process knows of it and new results have higher numbers. */
      ready: z.boolean(),
    })
    .optional(),
});

const forgotten = z.object({
  v: z.literal(1),
  status: z.enum(['forgetting', 'forgotten']),
  at: timestamp,
  /** Last sequence of DISPATCH then: no result up to it may become an event of the session. */
  dispatches: z.int().nonnegative(),
  /** Last event of the session then: its next log starts above, and snapshots up to it are ignored. */
  sequence: z.int().nonnegative(),
  /** The same numbers when first recorded: later data belongs to the next session of the name. */
  begun: z.object({ dispatches: z.int().nonnegative(), sequence: z.int().nonnegative() }).optional(),
  /** True once no more data of the old session can arrive, so it may be erased. */
  settled: z.boolean().optional(),
  /** Also erase accepted learnings that only this session supports. */
  with_learnings: z.boolean().optional(),
  /** The process that erases it; another takes over once the record is old. */
  by: z.string().optional(),
  /** The project that is forgotten with it, whose learnings are erased last. */
  project: name.optional(),
  /** Until it is settled: forget it only if this is still its newest event and no result was stored since. */
  unless_moved: z.object({ sequence: z.int().nonnegative(), since: timestamp }).optional(),
  /** Kept until everything is erased. */
  session: name.optional(),
});

/** Key `archived.<session>`: the session is read-only. */
export type Archived = z.output<typeof archived>;
/** Key `forgotten.<hash of its name>`: the session is being erased, or was. */
export type Forgotten = z.output<typeof forgotten>;

export type LifecycleRecord =
  | { readonly kind: 'archived'; readonly session: Token; readonly record: Archived }
  | { readonly kind: 'forgotten'; readonly record: Forgotten };

export function lifecycleRecord(key: string, json: unknown): LifecycleRecord | undefined {
  const session = sessionOfArchivedKey(key);
  if (session !== undefined) {
    const { data: record } = archived.safeParse(json);
    return record && { kind: 'archived', session, record };
  }
  const { data: record } = forgotten.safeParse(json);
  if (record === undefined || !FORGOTTEN_KEY.test(key)) return undefined;
  // A record under another session's key must not apply to it.
  const isNamed = record.session === undefined || forgottenKey(record.session) === key;
  return isNamed ? { kind: 'forgotten', record } : undefined;
}

const FORGOTTEN_KEY = /^forgotten\.[0-9a-f]{40}$/;

/** The retention rules and the last run. Without rules everything stays. */

/** In days, or `never`. */
export const RETENTION_TERMS = ['archiveAfter', 'forgetAfter', 'dispatchesAfter', 'rejectedAfter'] as const;
export type RetentionTerm = (typeof RETENTION_TERMS)[number];

const TERM_TEXTS = {
  archiveAfter: 'Archive a session after this time without activity.',
  forgetAfter: 'Forget a session, archived or not, after this time without activity.',
  dispatchesAfter: 'Remove published results of this age once they are processed.',
  rejectedAfter: 'Remove bodies of rejected results of this age.',
} as const satisfies Readonly<Record<RetentionTerm, string>>;

export function termFields<Field extends z.ZodType>(field: (about: string) => Field) {
  return Object.fromEntries(RETENTION_TERMS.map((term) => [term, field(TERM_TEXTS[term])])) as Record<
    RetentionTerm,
    Field
  >;
}

const projectName = z.custom<Token>(isToken);
const rule = z.object({
  /** Left out for the whole installation. */
  project: projectName.exactOptional(),
  at: timestamp,
  ...termFields(() => z.string().regex(TERM_PATTERN).exactOptional()),
});

export const retentionRules = z.object({
  v: z.literal(1),
  /** Incremented with each change. */
  version: z.int().nonnegative(),
  /** Set by a restore, which brings back data that is old by now: nothing runs until a rule is set. */
  paused: z.literal(true).exactOptional(),
  rules: z.array(rule),
});

const counts = {
  archived: z.int().nonnegative(),
  forgotten: z.int().nonnegative(),
  /** Sessions that moved in the meantime. */
  spared: z.int().nonnegative(),
  dispatches: z.int().nonnegative(),
  rejected: z.int().nonnegative(),
};

/** The last run of the rules; no end while it runs, or if it was interrupted. */
export const retentionRun = z.object({
  v: z.literal(1),
  startedAt: timestamp,
  endedAt: timestamp.exactOptional(),
  error: z.string().exactOptional(),
  ...counts,
});

export type RetentionRule = z.output<typeof rule>;
export type RetentionRules = z.output<typeof retentionRules>;
export type RetentionRun = z.output<typeof retentionRun>;
export type RetentionCounts = Pick<RetentionRun, keyof typeof counts>;

export const NO_RULES: RetentionRules = { v: 1, version: 0, rules: [] };
export const NOTHING_DONE: RetentionCounts = {
  ...{ archived: 0, forgotten: 0, spared: 0, dispatches: 0, rejected: 0 },
};
