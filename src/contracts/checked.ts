import { z } from 'zod';
import { ThroughlineError } from './errors.js';
import { explainIssues, type Known } from './explain-issues.js';
import type { Role } from './kinds.js';
import { longListIn } from './list-limits.js';
import { otherSpelling, pathIn } from './reading/shape.js';
import { type NamedRequest, named } from './request-fields.js';
import { resultFields } from './results.js';

/** The parsed value, or a message for people with details. */
export type Checked<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly message: string; readonly details: Readonly<Record<string, unknown>> };

/**
 * Parses a value with a schema; fields that the schema does not name are dropped.
 *
 * @throws ThroughlineError `schema_invalid` that names each wrong field
 */
export function checkedBy<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  return orThrow(check(schema, { request: value, faults: [], faulty: 0 }, (path) => path.map(String)));
}

/**
 * Parses a request with a schema. Its fields may have either spelling, `maxFacts` or `max_facts`.
 *
 * @throws ThroughlineError `schema_invalid` that names each wrong or unknown field
 */
export function checkedRequest<Schema extends z.ZodType>(schema: Schema, request: unknown): z.output<Schema> {
  return orThrow(readRequest(schema, request));
}

/** Does the same without throwing. */
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

const inCamelCase = new Map<Role, z.ZodType<Readonly<Record<string, unknown>>>>();

/**
 * Returns a result of a program, whose fields are in camelCase, as it goes on the wire.
 *
 * @throws ThroughlineError `schema_invalid` that names each wrong or unknown field
 */
export function wireResult(role: Role, result: unknown): object {
  const schema = inCamelCase.get(role) ?? z.object(respelled(resultFields(role)));
  inCamelCase.set(role, schema);
  return respelled(checkedRequest(schema, result));
}

function respelled<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [otherSpelling(name), value]));
}
