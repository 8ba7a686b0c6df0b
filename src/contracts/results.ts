import { z } from 'zod';
import { FACT_TAGS } from './fact-tags.js';
import { KEPT } from './kept.js';
import {
  type FieldOf,
  kindOf,
  ROLES,
  type Role,
  type VerdictFieldOf,
  type VerdictOf,
  verdictsOf,
} from './kinds.js';
import { maySay, relationOf } from './relations.js';
import { SEVERITIES } from './severity.js';

/**
 * What an agent returned: the dispatch contract, as strict as a result can be. Unknown extra keys are ignored, so that a
 * runtime may send its own.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern refuses
const NO_CONTROLS = /^[^\u0000-\u001f\u007f\u2028\u2029]*$/;

/** A task's id as runtimes name it: `2.1`, `T001`, `TAS-4`; one line, since it ends up in a prompt. */
export const taskId = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(128, 'must be at most 128 characters')
  .regex(NO_CONTROLS, 'must not hold control characters or line breaks');

const text = z.string();
const texts = z.array(text);

export const testRun = z.object({
  command: text,
  passed: z.boolean(),
  failures: texts.optional(),
});

export const reviewIssue = z.object({
  severity: z.enum(SEVERITIES),
  file: text.optional(),
  message: text,
  fix: text.optional(),
});

/** A fact in the words of its agent. */
export const explicitFact = z
  .object({
    subject: text.min(1, 'must not be empty'),
    relation: text.refine((relation) => relationOf(relation) !== '', 'must not be empty'),
    object: text.min(1, 'must not be empty'),
    tags: z.array(z.enum(FACT_TAGS)).optional(),
  })
  .refine(({ subject, relation }) => maySay(subject, relation), {
    path: ['relation'],
    error: 'is said by fields of the result only',
  });

/** What the fields of results hold. */
const FIELDS = {
  summary: text.min(1, 'must not be empty'),
  files_modified: texts,
  tests: z.array(testRun),
  follow_up_actions: texts,
  blockers: texts,
  strengths: texts,
  issues: z.array(reviewIssue),
  required_fixes: texts,
};

/** What any result may carry. */
const COMMON = {
  /** The intent in whose trace it stands. */
  intent_id: text,
  /** Names the result: it counts once per session, however often it is published. */
  result_id: text.min(1, 'must not be empty').max(256, 'must be at most 256 characters'),
  /** It is from before the session: it gives facts, and nothing has to follow from it. */
  history: z.boolean(),
  /** What else should be known, in words. */
  facts: z.array(explicitFact).max(KEPT.fact.explicit, `must be at most ${KEPT.fact.explicit} facts`),
};

type Shape = typeof FIELDS & typeof COMMON;
type Carried<Keys extends keyof Shape> = { [Key in Keys]?: z.output<Shape[Key]> | undefined };

/** A result of a role. */
export type ResultOf<R extends Role> = { task_id: string } & Record<VerdictFieldOf<R>, VerdictOf<R>> &
  Carried<FieldOf<R> | keyof typeof COMMON>;

/** A result with the role that returned it. */
export type RoleResult = { [R in Role]: { readonly role: R; readonly result: ResultOf<R> } }[Role];

/** A result of any role: it has the fields of its kind. */
export type AnyResult = { task_id: string } & {
  [R in Role as VerdictFieldOf<R>]?: VerdictOf<R> | undefined;
} & Carried<keyof Shape>;

export type TestRun = z.output<typeof testRun>;
export type ReviewIssue = z.output<typeof reviewIssue>;
export type ExplicitFact = z.output<typeof explicitFact>;

/** The schema of each role's results. */
export const RESULTS = Object.fromEntries(ROLES.map((role) => [role, schemaOf(role)])) as {
  readonly [R in Role]: z.ZodType<ResultOf<R>, ResultOf<R>>;
};

function schemaOf(role: Role): z.ZodType {
  const { verdictField, fields } = kindOf(role);
  const own = fields.map((field) => [field, FIELDS[field].optional()]);
  const common = Object.entries(COMMON).map(([field, schema]) => [field, schema.optional()]);
  const shape: Record<string, z.ZodType> = {
    task_id: taskId,
    ...(verdictField !== undefined && { [verdictField]: z.enum(verdictsOf(role)) }),
    ...Object.fromEntries(own),
    ...Object.fromEntries(common),
  };
  if (!fields.includes('files_modified')) return z.object(shape);
  return z.object({ ...shape, files_changed: texts.optional() }).transform(namedOnce);
}

/** `files_changed` is another name of `files_modified`: what stands under both is one list. */
export function namedOnce<Result extends { files_changed?: unknown; files_modified?: unknown }>({
  files_changed,
  ...result
}: Result) {
  const { files_modified } = result;
  const both = Array.isArray(files_modified) && Array.isArray(files_changed);
  const files = both ? joined(files_modified, files_changed) : (files_modified ?? files_changed);
  return { ...result, files_modified: files };
}

/** Two lists as one, each item once. */
export function joined(one: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  if (one.length === 0) return other;
  const items = new Map<string, unknown>();
  for (const item of [...one, ...other]) {
    const said = JSON.stringify(item);
    if (!items.has(said)) items.set(said, item);
  }
  return [...items.values()];
}
