import { compile, type z } from 'zod';
import type { Role } from './kinds.js';
import { RESULTS } from './results.js';

const compiled = new Map<Role, z.ZodType>();

/** Compiled with the first body of its role, which takes some milliseconds: worth it for all but a few bodies. */
export function compiledResult(role: Role): z.ZodType {
  const known = compiled.get(role);
  if (known !== undefined) return known;
  const schema = compile(RESULTS[role]);
  compiled.set(role, schema);
  return schema;
}
