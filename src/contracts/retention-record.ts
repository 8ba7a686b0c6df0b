import { z } from 'zod';
import { TERM_PATTERN } from '../shared/text.js';
import { timestamp } from './event.js';
import { isToken, type Token } from './names.js';

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
