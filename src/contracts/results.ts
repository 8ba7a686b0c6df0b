import { hash } from 'node:crypto';
import { compile, z } from 'zod';
import { defined } from '../shared/collections.js';
import { oneLine, plainPath } from '../shared/text.js';
import { KEPT } from './kept-limits.js';
import {
  FACT_TAGS,
  type FieldOf,
  kindOf,
  ROLES,
  type Role,
  SEVERITIES,
  type VerdictFieldOf,
  type VerdictOf,
  verdictsOf,
} from './kinds.js';
import { statementScope } from './recorded-fact.js';
import { maySay, relationOf } from './relations.js';
import { text as trimmed, untrimmed } from './request-row.js';
import { boolean, list, named, oneOf } from './schema-fields.js';

/** The dispatch contract in its strict form. Unknown keys are ignored, so that a runtime may add its own. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern refuses
const NO_CONTROLS = /^[^\u0000-\u001f\u007f\u2028\u2029]*$/;

/** One line, since prompts show it: `2.1`, `T001`, `TAS-4`. */
export const taskId = trimmed(128)
  .regex(NO_CONTROLS, 'must not hold control characters or line breaks')
  .describe('The task, as the run names it: 2.1, T001, TAS-4.');

const text = z.string();
const texts = z.array(text);
/** A text that is not empty in one line either, as events keep it. */
const visible = text
  .min(1, { error: 'must not be empty', abort: true })
  .refine((given) => oneLine(given) !== '', 'must not be empty');

export const testRun = named('TestRun', 'A run of tests.', {
  command: text.describe('The command that ran the tests.'),
  passed: boolean('True if they passed.'),
  failures: texts.optional().describe('The failures, one text each.'),
});

export const reviewIssue = named('ReviewIssue', 'Something that a review found wrong.', {
  severity: oneOf('Severity.', SEVERITIES),
  file: text.optional().describe('The file that it is in.'),
  message: text.describe('The problem, in a sentence.'),
  fix: text.optional().describe('The suggested fix.'),
});

/** A question to a person. The work goes on with the default, or stops if the result is blocked. */
export const question = named('Question', 'A question to a person.', {
  text: visible.describe('The question, in one sentence.'),
  options: texts.optional().describe('The possible answers.'),
  default: text.optional().describe('The answer that is used until someone gives another.'),
});

export const artifact = named('Artifact', 'Something that later tasks can call.', {
  kind: text.optional().describe('What it is: endpoint, function, component, class or integration.'),
  name: visible.describe('Its name, such as parse or GET /metrics.'),
  signature: text.optional().describe('How it is called.'),
  location: text.optional().describe('Where it is, such as src/parse.ts:12.'),
});

export const renamedFile = named('RenamedFile', 'A file that has another path now.', {
  from: visible.describe('Its path before.'),
  to: visible.describe('Its path now.'),
});

export const explicitFact = z
  .object({
    subject: text.min(1, 'must not be empty').describe('Subject of the fact.'),
    relation: text
      .refine((relation) => relationOf(relation) !== '', 'must not be empty')
      .describe('Relation of subject and object, such as uses, decided or depends_on.'),
    object: text.min(1, 'must not be empty').describe('Object of the fact.'),
    tags: list('Tags of the fact.', z.enum(FACT_TAGS)).optional(),
    origin: text.optional().describe('Of an observer: "user" if the user said it in a conversation.'),
    by: text.optional().describe('Name of that user.'),
    replaces: z
      .array(text)
      .max(10, 'must be at most 10 ids')
      .optional()
      .describe('Ids of the statements that it replaces, answers or settles: M7.'),
    not_shown: z.array(text).optional().describe('Ids that it names, but that its agent was not shown.'),
    scope: statementScope.optional(),
  })
  .refine(({ subject, relation }) => maySay(subject, relation), {
    path: ['relation'],
    error: 'is said by fields of the result only',
  })
  .meta({ id: 'ExplicitFact', description: 'A fact in the words of an agent.' });

const FIELDS = {
  summary: text.min(1, 'must not be empty').describe('The work or findings, in a few sentences.'),
  files_modified: texts.describe('Paths of the files that were changed.'),
  tests: list('Test commands that were run.', testRun),
  follow_up_actions: texts.describe('Remaining work.'),
  blockers: texts.describe('Blockers.'),
  strengths: texts.describe('Strengths of the work.'),
  issues: list('Problems of the work.', reviewIssue),
  required_fixes: texts.describe('Fixes required for approval.'),
};

/** Fields that any result may have. */
const COMMON = {
  intent_id: text.describe('Id of the intent whose trace records the result.'),
  result_id: untrimmed(256).describe(
    'Idempotency key: the result counts once, however often it is published.',
  ),
  branch: text.describe('The git branch that it was done on.'),
  commit: text.describe('The git commit of the work.'),
  files_deleted: texts.describe('Paths of the files that were deleted.'),
  files_renamed: list('Files that were renamed or moved.', renamedFile),
  at: text.describe('When it happened, ISO 8601, if long before it is published.'),
  artifacts: z
    .array(artifact)
    .max(KEPT.fact.artifacts, `must be at most ${KEPT.fact.artifacts} artifacts`)
    .describe('What the work adds that later tasks can call.'),
  history: boolean('From before the session: it adds facts, and needs no next action.'),
  questions: z
    .array(question)
    .max(KEPT.question.list, `must be at most ${KEPT.question.list} questions`)
    .describe('Questions to a person; a default lets work go on without answer.'),
  facts: z
    .array(explicitFact)
    .max(KEPT.fact.explicit, `must be at most ${KEPT.fact.explicit} facts`)
    .describe('Further knowledge for later agents, as subject, relation and object.'),
};

const { intent_id, branch, commit, files_deleted, files_renamed, questions } = COMMON;

/** The fields that the event of a result keeps as they are, but for their length. */
export const outcomeFields = z
  .object({
    ...FIELDS,
    summary: text.describe('The work or findings.'),
    intent_id,
    branch,
    commit,
    files_deleted,
    files_renamed,
    questions,
  })
  .partial().shape;

type Shape = typeof FIELDS & typeof COMMON;
type Carried<Keys extends keyof Shape> = { [Key in Keys]?: z.output<Shape[Key]> | undefined };

/** A result of a role. */
export type ResultOf<R extends Role> = { task_id: string } & Record<VerdictFieldOf<R>, VerdictOf<R>> &
  Carried<FieldOf<R> | keyof typeof COMMON>;

export type RoleResult = { [R in Role]: { readonly role: R; readonly result: ResultOf<R> } }[Role];

export type AnyResult = { task_id: string } & {
  [R in Role as VerdictFieldOf<R>]?: VerdictOf<R> | undefined;
} & Carried<keyof Shape>;

export type TestRun = z.output<typeof testRun>;
export type Question = z.output<typeof question>;

export const RESULTS = Object.fromEntries(
  ROLES.map((role): [Role, z.ZodType] => [role, z.object(resultFields(role))]),
) as {
  readonly [R in Role]: z.ZodType<ResultOf<R>, ResultOf<R>>;
};

export function resultFields(role: Role): Record<string, z.ZodType> {
  const { verdictField, fields } = kindOf(role);
  const roleFields = fields.map((field) => [field, FIELDS[field].optional()]);
  const common = Object.entries(COMMON).map(([field, schema]) => [field, schema.optional()]);
  return {
    task_id: taskId,
    ...(verdictField !== undefined && {
      [verdictField]: oneOf('The verdict on the task, which decides what happens next.', verdictsOf(role)),
    }),
    ...Object.fromEntries(roleFields),
    ...Object.fromEntries(common),
  };
}

export const RESULT_KEY_LENGTH = 12;

/**
 * Returns the key by which the fold recognizes a result that is published again: 72 bits of a SHA-256, since an id may
 * be long or contain a secret. The key covers role and task, so results of different tasks may share an id. Returns
 * undefined without any id.
 *
 * @param messageId used when the result has no `result_id`
 */
export function resultKey({ role, result }: RoleResult, messageId?: string): string | undefined {
  const { result_id: resultId, task_id: task } = result;
  const id = resultId ?? messageId;
  if (id === undefined) return undefined;
  const whole = JSON.stringify([resultId === undefined ? 'message' : 'result', role, task, id]);
  return hash('sha256', whole, 'base64url').slice(0, RESULT_KEY_LENGTH);
}

const compiled = new Map<Role, z.ZodType>();

/** Compiling takes some milliseconds: worth it only when many bodies are parsed. */
export function compiledResult(role: Role): z.ZodType {
  const known = compiled.get(role);
  if (known !== undefined) return known;
  const schema = compile(RESULTS[role]);
  compiled.set(role, schema);
  return schema;
}

/** Normalizes the paths of a result with `plainPath`. */
export function withPlainPaths<Returned extends RoleResult>(returned: Returned): Returned {
  const { files_modified, files_deleted, files_renamed, issues }: AnyResult = returned.result;
  const plain = {
    ...(files_modified && { files_modified: files_modified.map(plainPath) }),
    ...(files_deleted && { files_deleted: files_deleted.map(plainPath) }),
    ...(files_renamed && {
      files_renamed: files_renamed.map(({ from, to }) => ({ from: plainPath(from), to: plainPath(to) })),
    }),
    ...(issues && {
      issues: issues.map((issue) => defined({ ...issue, file: issue.file && plainPath(issue.file) })),
    }),
  };
  return { ...returned, result: { ...returned.result, ...plain } };
}
