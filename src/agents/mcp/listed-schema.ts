import { z } from 'zod';

/** A JSON Schema as a listing has it: what tells a model how to call, and nothing that only a validator needs. */
export type ListedSchema = { readonly [key: string]: unknown };

/** What the tools say of their fields. The descriptions in contracts are longer, and for people. */
export const HINTS = z.registry<{ readonly description: string }>();

const KEPT: ReadonlySet<string> = new Set([
  'type',
  'description',
  'enum',
  'items',
  'properties',
  'required',
  'anyOf',
]);

/** Limits and defaults are left out: a refusal names them when it comes to it. */
export function listedSchema(schema: z.ZodType, io: 'input' | 'output'): ListedSchema {
  return short(z.toJSONSchema(schema, { io, metadata: HINTS }));
}

function short(schema: object): ListedSchema {
  return Object.fromEntries(
    Object.entries(schema)
      // What an enumeration holds says its type.
      .filter(([key]) => KEPT.has(key) && !(key === 'type' && 'enum' in schema))
      .map(([key, value]) => [key, key === 'properties' ? mapped(value) : inner(value)]),
  );
}

function mapped(properties: Readonly<Record<string, object>>): ListedSchema {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, short(schema)]));
}

function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inner);
  return typeof value === 'object' && value !== null ? short(value) : value;
}
