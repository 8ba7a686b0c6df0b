import { z } from 'zod';
import { ThroughlineError } from './errors.js';

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
