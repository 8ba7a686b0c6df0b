import { z } from 'zod';

/**
 * What an agent returned: version 1 of the dispatch contract. Unknown extra keys are ignored, so that a runtime may
 * send its own.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern refuses
const NO_CONTROLS = /^[^\u0000-\u001f\u007f\u2028\u2029]+$/;

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

export const IMPLEMENTER_STATUSES = ['completed', 'blocked', 'failed'] as const;
export const ASSESSMENTS = ['approved', 'needs_changes', 'blocked'] as const;
export const SEVERITIES = ['critical', 'important', 'minor'] as const;

export const implementerResult = z
  .object({
    task_id: taskId,
    status: z.enum(IMPLEMENTER_STATUSES),
    summary: text.min(1, 'must not be empty'),
    files_modified: texts.optional(),
    files_changed: texts.optional(),
    tests: z.array(testRun).optional(),
    follow_up_actions: texts.optional(),
    blockers: texts.optional(),
    intent_id: text.optional(),
  })
  .transform(({ files_changed, ...result }) => ({
    ...result,
    files_modified: result.files_modified ?? files_changed,
  }));

export const reviewIssue = z.object({
  severity: z.enum(SEVERITIES),
  file: text.optional(),
  message: text,
  fix: text.optional(),
});

export const reviewerResult = z.object({
  task_id: taskId,
  assessment: z.enum(ASSESSMENTS),
  strengths: texts.optional(),
  issues: z.array(reviewIssue).optional(),
  required_fixes: texts.optional(),
  intent_id: text.optional(),
});

/** A parsed implementer result; `files_changed` has become `files_modified`. */
export type ImplementerResult = z.output<typeof implementerResult>;
/** A parsed reviewer result. */
export type ReviewerResult = z.output<typeof reviewerResult>;
/** What a runtime hands in as an implementer result. */
export type ImplementerResultInput = z.input<typeof implementerResult>;
/** What a runtime hands in as a reviewer result. */
export type ReviewerResultInput = z.input<typeof reviewerResult>;

/** A result with the role that returned it. */
export type RoleResult =
  | { readonly role: 'implementer'; readonly result: ImplementerResult }
  | { readonly role: 'reviewer'; readonly result: ReviewerResult };
