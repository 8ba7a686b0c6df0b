import { z } from 'zod';
import { ROLES } from '../kinds.js';

export const next = z
  .string()
  .exactOptional()
  .describe('Cursor of the next page, to send as cursor; absent on the last page.');

export const count = (about: string) => z.int().describe(about);

export const place = (about: string) => z.int().describe(about);

export const time = (about: string) => z.string().describe(`${about}, ISO 8601 in UTC.`);

export const sequence = place('Session sequence that the answer reflects.');

/** A read-only version of a schema's output. */
export type Told<Schema extends z.ZodType> = Unchanging<z.output<Schema>>;

type Unchanging<Value> = Value extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Unchanging<Value[Key]> }
    : Value;

/** Why a result was rejected. */
export const faultFields = {
  code: z.string().describe('A stable error code.'),
  reason: z.string().describe('The problem.'),
  fix: z.string().exactOptional().describe('The fix that makes it readable.'),
  meant: z
    .enum(ROLES)
    .exactOptional()
    .describe('The role that it seems to belong to, if it was published with another.'),
};
