import { z } from 'zod';
import { onceForEach } from '../shared/collections.js';
import { jsonOf } from '../shared/text.js';
import { ThroughlineError } from './errors.js';

interface LongList {
  /** For example `payload.target_files`. */
  readonly path: string;
  readonly length: number;
  readonly limit: number;
}

/**
 * Finds the first list longer than its schema allows, by lengths alone: a schema checks every item before their number,
 * and a message can contain half a million.
 */
export function longListIn(
  schema: unknown,
  value: unknown,
  path: readonly string[] = [],
): LongList | undefined {
  if (schema instanceof z.ZodArray) {
    const limit = limitOf(schema);
    if (!Array.isArray(value) || limit === undefined || value.length <= limit) return undefined;
    return { path: path.join('.'), length: value.length, limit };
  }
  if (schema instanceof z.ZodObject) {
    if (typeof value !== 'object' || value === null) return undefined;
    return first(listsIn(schema), ([key, field]) =>
      Object.hasOwn(value, key) ? longListIn(field, Reflect.get(value, key), [...path, key]) : undefined,
    );
  }
  return first(insideOf(schema), (inner) => longListIn(inner, value, path));
}

/** Caches the fields that may be too long: searching a schema takes longer than checking a request. */
const listsIn = onceForEach(({ shape }: z.ZodObject) =>
  Object.entries<unknown>(shape).filter(([, field]) => hasLimit(field)),
);

function hasLimit(schema: unknown): boolean {
  if (schema instanceof z.ZodArray) return limitOf(schema) !== undefined;
  if (schema instanceof z.ZodObject) return listsIn(schema).length > 0;
  return insideOf(schema).some(hasLimit);
}

export function limitOf(list: z.ZodArray): number | undefined {
  for (const check of list.def.checks ?? []) {
    if (check instanceof z.core.$ZodCheckMaxLength) return check._zod.def.maximum;
  }
  return undefined;
}

/** Returns the schemas that parse the same value as this one. */
export function insideOf(schema: unknown): readonly object[] {
  if (schema instanceof z.ZodUnion) return schema.options;
  if (schema instanceof z.ZodPipe) return [schema.in, schema.out];
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodReadonly
  ) {
    return [schema.unwrap()];
  }
  return [];
}

function first<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function cursorOf(...values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** @throws ThroughlineError `schema_invalid` for a cursor that `cursorOf` did not make of such values */
export function readCursor<const Values extends readonly [z.ZodType, ...z.ZodType[]]>(
  cursor: string,
  values: Values,
): z.output<z.ZodTuple<Values>> {
  const read = z.tuple(values).safeParse(jsonOf(Buffer.from(cursor, 'base64url')));
  if (read.success) return read.data;
  throw new ThroughlineError(
    'schema_invalid',
    'cursor: is not one of this list: send the next of the page before, or leave it out for the first page',
    { details: { fields: ['cursor'] } },
  );
}
