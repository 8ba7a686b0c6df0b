import { z } from 'zod';
import { DAYS_PATTERN } from '../shared/text.js';
import { timestamp } from './event.js';
import { forgottenKey, isToken, sessionOfArchivedKey, type Token } from './names.js';

/** The records in the bucket `session_lifecycle`, which are few. Every service watches them in memory. */

const name = z.custom<Token>(isToken);

const archived = z.object({
  v: z.literal(1),
  status: z.literal('archived'),
  at: timestamp,
  reason: z.string().optional(),
  /** Its log has not been replaced by its checkpoint yet. */
  pending: z.literal(true).optional(),
});

const forgotten = z.object({
  v: z.literal(1),
  status: z.enum(['forgetting', 'forgotten']),
  at: timestamp,
  /** Boundary in DISPATCH: no result up to it may become an event of the session. 0 until it is known. */
  dispatches: z.int().nonnegative(),
  /** Last event of the session then: its next log starts above, and snapshots up to it are ignored. */
  sequence: z.int().nonnegative(),
  /** Also erase accepted learnings that only this session supports. */
  with_learnings: z.boolean().optional(),
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

/** Actions on sessions without activity. `keep` exempts a project from the rule of the installation. */
export const RETENTION_ACTIONS = ['archive', 'forget', 'keep'] as const;

const rule = z.object({
  /** Left out for the whole installation. */
  project: name.exactOptional(),
  action: z.enum(RETENTION_ACTIONS),
  /** Days without activity: `90d`. Left out for `keep`. */
  after: z.string().regex(DAYS_PATTERN).exactOptional(),
  at: timestamp,
});

/** The retention rules. Without rules everything stays. */
export const retentionRules = z.object({
  v: z.literal(1),
  rules: z.array(rule),
});

export type RetentionRule = z.output<typeof rule>;
export type RetentionRules = z.output<typeof retentionRules>;

export const NO_RULES: RetentionRules = { v: 1, rules: [] };
