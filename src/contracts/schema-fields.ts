import { z } from 'zod';
import { ROLES } from './kinds.js';

/** Fields of requests, replies and events. Each has a description, which schemas, help and docs show. */

export const string = (about: string) => z.string().describe(about);

export const strings = (about: string) => z.array(z.string()).describe(about);

export const boolean = (about: string) => z.boolean().describe(about);

/** A field that is either true or absent. */
export const mark = (about: string) => z.literal(true).exactOptional().describe(about);

export function oneOf<const Values extends readonly string[]>(about: string, values: Values) {
  return z.enum(values).describe(about);
}

export const list = <Item extends z.ZodType>(about: string, item: Item) => z.array(item).describe(about);

export const object = <const Shape extends z.ZodRawShape>(about: string, shape: Shape) =>
  z.object(shape).describe(about);

/** An object with a name of its own in JSON Schemas and in the types that are generated from them. */
export const named = <const Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) =>
  z.object(shape).meta({ id, description });

export const count = (about: string) => z.int().describe(about);

export const place = (about: string) => z.int().describe(about);

export const time = (about: string) => string(`${about}, ISO 8601 in UTC.`);

/** Named by every reply that meaning had a part in. */
export const vectors = string(
  'Name and version of the word vectors; absent without a semantic search.',
).exactOptional();

export const sequence = place('Session sequence that the answer reflects.');

export const next = string('Cursor of the next page; absent on the last page.').exactOptional();

/** A read-only version of a schema's output. */
export type Output<Schema extends z.ZodType> = Unchanging<z.output<Schema>>;

type Unchanging<Value> = Value extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Unchanging<Value[Key]> }
    : Value;

/** Why a result was rejected. */
export const faultFields = {
  code: string('A stable error code.'),
  reason: string('The problem.'),
  fix: string('The fix that makes it readable.').exactOptional(),
  meant: oneOf('The role it seems to belong to, if published with another.', ROLES).exactOptional(),
};
