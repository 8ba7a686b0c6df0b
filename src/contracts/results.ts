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
  .regex(NO_CONTROLS, 'must not hold control characters or line breaks')
  .describe('The task, as the run names it: 2.1, T001, TAS-4.');

const text = z.string();
const texts = z.array(text);

export const testRun = z
  .object({
    command: text.describe('The command that ran the tests.'),
    passed: z.boolean().describe('Whether they passed.'),
    failures: texts.optional().describe('What failed, one text each.'),
  })
  .meta({ id: 'TestRun', description: 'A run of tests.' });

export const reviewIssue = z
  .object({
    severity: z.enum(SEVERITIES).describe('How much it matters.'),
    file: text.optional().describe('The file that it is in.'),
    message: text.describe('What is wrong, in a sentence.'),
    fix: text.optional().describe('What to do about it.'),
  })
  .meta({ id: 'ReviewIssue', description: 'Something that a review found wrong.' });

/** A fact in the words of its agent. */
export const explicitFact = z
  .object({
    subject: text.min(1, 'must not be empty').describe('What the fact is about.'),
    relation: text
      .refine((relation) => relationOf(relation) !== '', 'must not be empty')
      .describe('How subject and object belong together, such as uses or depends_on.'),
    object: text.min(1, 'must not be empty').describe('What is said of the subject.'),
    tags: z.array(z.enum(FACT_TAGS)).optional().describe('What kind of fact it is.'),
  })
  .refine(({ subject, relation }) => maySay(subject, relation), {
    path: ['relation'],
    error: 'is said by fields of the result only',
  })
  .meta({ id: 'ExplicitFact', description: 'A fact in the words of an agent.' });

/** What the fields of results hold. */
const FIELDS = {
  summary: text.min(1, 'must not be empty').describe('What was done or found, in a few sentences.'),
  files_modified: texts.describe('Paths of the files that were changed.'),
  tests: z.array(testRun).describe('Test commands that were run.'),
  follow_up_actions: texts.describe('What is left to do.'),
  blockers: texts.describe('What keeps the task from going on.'),
  strengths: texts.describe('What is good about the work.'),
  issues: z.array(reviewIssue).describe('What is wrong with the work.'),
  required_fixes: texts.describe('What must be fixed before the work can be approved.'),
};

/** What any result may carry. */
const COMMON = {
  intent_id: text.describe(
    'Id of the intent (what an agent was asked for) in whose trace the result stands.',
  ),
  result_id: text
    .min(1, 'must not be empty')
    .max(256, 'must be at most 256 characters')
    .describe('Names the result: it counts once per session, however often it is published.'),
  branch: text.describe('The git branch that it was done on.'),
  history: z
    .boolean()
    .describe('It is from before the session: it gives facts, and nothing has to follow from it.'),
  facts: z
    .array(explicitFact)
    .max(KEPT.fact.explicit, `must be at most ${KEPT.fact.explicit} facts`)
    .describe('What else later agents should know, as subject, relation and object.'),
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
    ...(verdictField !== undefined && {
      [verdictField]: z
        .enum(verdictsOf(role))
        .describe('The verdict on the task: what happens next follows from it.'),
    }),
    ...Object.fromEntries(own),
    ...Object.fromEntries(common),
  };
  if (!fields.includes('files_modified')) return z.object(shape);
  return z
    .object({ ...shape, files_changed: texts.optional().describe('Another name of files_modified.') })
    .transform(namedOnce);
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
