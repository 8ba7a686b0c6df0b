import { z } from 'zod';
import { DAYS_PATTERN } from '../shared/text.js';
import { timestamp } from './event.js';
import { isToken, lifecycleKey, type Token } from './names.js';

const name = z.custom<Token>(isToken);

const archived = z.object({
  at: timestamp,
  reason: z.string().exactOptional(),
  /** Its log has not been replaced by its checkpoint yet. */
  pending: z.literal(true).exactOptional(),
});

const forgotten = z.object({
  status: z.enum(['forgetting', 'forgotten']),
  at: timestamp,
  /** Boundary in DISPATCH: no result up to it may become an event of the session. 0 until it is known. */
  dispatches: z.int().nonnegative(),
  /** Last event of the session then: its next log starts above, and snapshots up to it are ignored. */
  sequence: z.int().nonnegative(),
  /** Also erase accepted learnings that only this session supports. */
  with_learnings: z.boolean().exactOptional(),
});

const record = z.object({
  v: z.literal(1),
  /** Left out once everything is erased. */
  session: name.exactOptional(),
  archived: archived.exactOptional(),
  forgotten: forgotten.exactOptional(),
});

/** The session is read-only. */
export type Archived = z.output<typeof archived>;
/** The session is being erased, or was (a tombstone). */
export type Forgotten = z.output<typeof forgotten>;
/** The record of a session in the bucket `session_lifecycle`. */
export type LifecycleRecord = z.output<typeof record>;

export function lifecycleRecord(key: string, json: unknown): LifecycleRecord | undefined {
  const { data } = record.safeParse(json);
  // A record under another session's key must not apply to it.
  if (data?.session !== undefined && lifecycleKey(data.session) !== key) return undefined;
  return data;
}

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
export const retentionRules = z.object({ v: z.literal(1), rules: z.array(rule) });

export type RetentionRules = z.output<typeof retentionRules>;

export const NO_RULES: RetentionRules = { v: 1, rules: [] };
