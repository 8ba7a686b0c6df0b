import { z } from 'zod';
import { ThroughlineError } from './errors.js';

/** A list of a request that holds more than its schema allows. */
interface LongList {
  /** Its path: `payload.target_files`. */
  readonly path: string;
  readonly length: number;
  readonly limit: number;
}

/**
 * The first list of `value` that is longer than its schema allows, found by lengths alone: a schema looks at every item
 * before it looks at their number, and a message has room for half a million of them.
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

const known = new WeakMap<z.ZodObject, readonly (readonly [key: string, field: unknown])[]>();

/** The fields that can hold a list that is too long: to look for them takes longer than to check a request. */
function listsIn(schema: z.ZodObject): readonly (readonly [key: string, field: unknown])[] {
  const lists = known.get(schema) ?? Object.entries(schema.shape).filter(([, field]) => hasLimit(field));
  known.set(schema, lists);
  return lists;
}

function hasLimit(schema: unknown): boolean {
  if (schema instanceof z.ZodArray) return limitOf(schema) !== undefined;
  if (schema instanceof z.ZodObject) return listsIn(schema).length > 0;
  return insideOf(schema).some(hasLimit);
}

/** The most items that the schema of a list allows. */
export function limitOf(list: z.ZodArray): number | undefined {
  for (const check of list.def.checks ?? []) {
    if (check instanceof z.core.$ZodCheckMaxLength) return check._zod.def.maximum;
  }
  return undefined;
}

/** The schemas that look at the same value as this one. */
export function insideOf(schema: unknown): readonly unknown[] {
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

/** Cursors of paged lists: a text without meaning for callers, and a few values for the service that made it. */

/** The cursor that holds these values. */
export function cursorOf(...values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/**
 * The values of a cursor.
 *
 * @throws ThroughlineError `schema_invalid` for one that `cursorOf` did not make of such values
 */
export function readCursor<const Values extends readonly [z.ZodType, ...z.ZodType[]]>(
  cursor: string,
  values: Values,
): z.output<z.ZodTuple<Values>> {
  const read = z.tuple(values).safeParse(jsonOf(cursor));
  if (read.success) return read.data;
  throw new ThroughlineError(
    'schema_invalid',
    'cursor: is not one of this list: send the next of the page before, or leave it out for the first page',
    { details: { fields: ['cursor'] } },
  );
}

function jsonOf(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
