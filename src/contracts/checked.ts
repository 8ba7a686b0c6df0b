import type { z } from 'zod';
import { ThroughlineError } from './errors.js';
import { explainIssues, type Known } from './explain-issues.js';
import type { Role } from './kinds.js';
import { longListIn } from './list-limits.js';
import { type NamedRequest, named } from './request-fields.js';
import { RESULTS } from './results.js';
import { pathIn } from './spelling.js';

/** What a schema makes of a value, or what is wrong with it: a message for people, and details. */
export type Checked<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly message: string; readonly details: Readonly<Record<string, unknown>> };

/**
 * A value as its schema gives it; fields that the schema does not name are left out.
 *
 * @throws ThroughlineError `schema_invalid` that names each wrong field
 */
export function checkedBy<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  return orThrow(check(schema, { request: value, faults: [], faulty: 0 }, (path) => path.map(String)));
}

/**
 * A request as its schema gives it. Its fields may have either spelling, `maxFacts` or `max_facts`.
 *
 * @throws ThroughlineError `schema_invalid` that names each wrong field, and each that no one knows
 */
export function checkedRequest<Schema extends z.ZodType>(schema: Schema, request: unknown): z.output<Schema> {
  return orThrow(readRequest(schema, request));
}

/** The same without an exception: for one part of a request that may be wrong alone. */
export function readRequest<Schema extends z.ZodType>(
  schema: Schema,
  request: unknown,
): Checked<z.output<Schema>> {
  return check(schema, named(schema, request), (path) => pathIn(request, path));
}

function check<Schema extends z.ZodType>(
  schema: Schema,
  { request, faults, faulty }: NamedRequest,
  pathOf: Known['pathOf'],
): Checked<z.output<Schema>> {
  const long = longListIn(schema, request);
  if (long !== undefined) {
    const { length, limit } = long;
    const path = pathOf(long.path.split('.')).join('.');
    const message = `${path}: has ${length} entries, the limit is ${limit}: send fewer, or several requests`;
    return { ok: false, message, details: { fields: [path], length, limit } };
  }
  const parsed = schema.safeParse(request);
  if (parsed.success && faulty === 0) return { ok: true, value: parsed.data };
  const issues = parsed.error?.issues ?? [];
  const fields = [...faults.map(({ path }) => path), ...issues.map(({ path }) => pathOf(path).join('.'))];
  const told = faults.map(({ message }) => message);
  return {
    ok: false,
    message: explainIssues(schema, request, { told, faulty, pathOf }),
    details: { fields },
  };
}

function orThrow<Output>(checked: Checked<Output>): Output {
  if (checked.ok) return checked.value;
  throw new ThroughlineError('schema_invalid', checked.message, { details: checked.details });
}

/** @throws ThroughlineError `schema_invalid` for a body that is not a result of this role */
export function requireResult(role: Role, result: unknown): void {
  checkedBy(RESULTS[role], result);
}
