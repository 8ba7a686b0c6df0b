import type { z } from 'zod';

/** What a schema gives, to be read and not to be changed: the type of a reply. */
export type Told<Schema extends z.ZodType> = Unchanging<z.output<Schema>>;

type Unchanging<Value> = Value extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Unchanging<Value[Key]> }
    : Value;
