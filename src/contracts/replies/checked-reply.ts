import type { z } from 'zod';
import { ThroughlineError } from '../errors.js';
import { valueAt } from '../explain-issues.js';
import { REPLIES, type ReplySubject, type ReplyTo } from './replies.js';

/**
 * Checks the reply of a service and returns it unchanged. Fields and words of a later version are accepted.
 *
 * @throws ThroughlineError `reply_invalid` that names the first field that is missing or of another type
 */
export function checkedReply<Subject extends ReplySubject>(
  subject: Subject,
  reply: unknown,
): ReplyTo<Subject> {
  const issues = REPLIES[subject].safeParse(reply).error?.issues ?? [];
  const wrong = issues.find((issue) => !isLater(issue, reply));
  if (wrong !== undefined) {
    const field = wrong.path.join('.') || 'the reply';
    throw new ThroughlineError(
      'reply_invalid',
      `the service answered ${subject} with what this version cannot read: ${field}: ${wrong.message}. Use the same version on both sides`,
      { details: { subject, field } },
    );
  }
  return reply as ReplyTo<Subject>;
}

/** True for a key or word that only a later version knows. */
function isLater(issue: z.core.$ZodIssue, within: unknown): boolean {
  if (issue.code === 'unrecognized_keys') return true;
  const value = valueAt(within, issue.path);
  if (issue.code === 'invalid_value') return typeof value === 'string';
  // Compound words such as role and verdict.
  if (issue.code === 'invalid_format') return issue.format === 'template_literal';
  return (
    issue.code === 'invalid_union' &&
    issue.errors.some((issues) => issues.every((inner) => isLater(inner, value)))
  );
}
