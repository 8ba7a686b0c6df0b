import type { z } from 'zod';
import { ThroughlineError } from './errors.js';
import { explainIssues } from './explain-issues.js';
import { longListIn } from './list-limits.js';

/**
 * A request as its schema gives it.
 *
 * @throws ThroughlineError `schema_invalid` that names each wrong field
 */
export function checkedBy<Schema extends z.ZodType>(schema: Schema, request: unknown): z.output<Schema> {
  const long = longListIn(schema, request);
  if (long !== undefined) {
    const { path, length, limit } = long;
    const message = `${path}: has ${length} entries, the limit is ${limit}: send fewer, or several requests`;
    throw new ThroughlineError('schema_invalid', message, { details: { fields: [path], length, limit } });
  }
  const parsed = schema.safeParse(request);
  if (parsed.success) return parsed.data;
  throw new ThroughlineError('schema_invalid', explainIssues(schema, request), {
    details: { fields: parsed.error.issues.map((issue) => issue.path.map(String).join('.')) },
  });
}
