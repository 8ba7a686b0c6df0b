import type { z } from 'zod';
import { lengthOf } from '../shared/text.js';

/**
 * One sentence for a failed parse: each wrong field by its path, with what was expected. At most five are named.
 */
export function explainIssues(error: z.ZodError, input: unknown): string {
  const named = error.issues.slice(0, 5).map((issue) => {
    const path = issue.path.map(String).join('.') || 'the body';
    return `${path}: ${issue.message}${shown(valueAt(input, issue.path))}`;
  });
  const more = error.issues.length - named.length;
  return more > 0 ? `${named.join('; ')}; and ${more} more` : named.join('; ');
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/** Longest value that is quoted, in characters. */
const MAX_QUOTED = 40;

function shown(value: unknown): string {
  // Whole or not at all: half a secret would be known by no rule, and quoted.
  if (typeof value === 'string')
    return value.length <= MAX_QUOTED
      ? ` (got ${JSON.stringify(value)})`
      : ` (got ${lengthOf(value)} characters)`;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return ` (got ${value})`;
  return '';
}
