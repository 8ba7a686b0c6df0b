import { z } from 'zod';

/** Fields of a reply that is one page of a list. */

export const next = z
  .string()
  .exactOptional()
  .describe('Cursor of the next page, to send as cursor; absent on the last page.');

/** Fields that several replies have. */

/** How many there are. */
export const count = (about: string) => z.int().describe(about);

/** Where in a stream something stands. */
export const place = (about: string) => z.int().describe(about);

export const time = (about: string) => z.string().describe(`${about}, ISO 8601 in UTC.`);

/** The session sequence that a reply reflects. */
export const sequence = place('Session sequence that the answer reflects.');

/** What a schema gives, to be read and not to be changed: the type of a reply. */
export type Told<Schema extends z.ZodType> = Unchanging<z.output<Schema>>;

type Unchanging<Value> = Value extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Unchanging<Value[Key]> }
    : Value;
