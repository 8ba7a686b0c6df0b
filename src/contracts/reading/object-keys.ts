import { type Json, MAX_KEYS, type ObjectShape } from './shape.js';

const first = new WeakMap<Json, readonly string[]>();

/** The keys of an object, up to a limit; listing a hundred thousand takes time, and is done once. */
export function firstKeys(json: Json): readonly string[] {
  const known = first.get(json);
  if (known !== undefined) return known;
  const keys = Object.keys(json).slice(0, MAX_KEYS);
  first.set(json, keys);
  return keys;
}

export interface Key {
  readonly key: string;
  readonly rank: number;
}

/** By shape and object, what its keys mean: the same object is asked for several fields, and may have any number of keys. */
const meanings = new WeakMap<ObjectShape, WeakMap<Json, ReadonlyMap<string, readonly Key[]>>>();
const NO_KEYS: readonly Key[] = [];

/** The keys of an object that may hold a field, the surest first. */
export function keysFor(field: string, json: Json, shape: ObjectShape): readonly Key[] {
  const known = meanings.get(shape) ?? new WeakMap<Json, ReadonlyMap<string, readonly Key[]>>();
  if (!meanings.has(shape)) meanings.set(shape, known);
  const keys = known.get(json) ?? keysByField(json, shape);
  if (!known.has(json)) known.set(json, keys);
  return keys.get(field) ?? NO_KEYS;
}

function keysByField(json: Json, shape: ObjectShape): ReadonlyMap<string, readonly Key[]> {
  const keys = new Map<string, Key[]>();
  for (const field of shape.fields.keys())
    if (Object.hasOwn(json, field)) keys.set(field, [{ key: field, rank: 0 }]);
  for (const key of firstKeys(json)) {
    const meant = shape.meant(key);
    if (meant === undefined || meant.rank === 0) continue;
    const known = keys.get(meant.field);
    if (known === undefined) keys.set(meant.field, [{ key, rank: meant.rank }]);
    else known.push({ key, rank: meant.rank });
  }
  for (const each of keys.values()) each.sort((one, other) => one.rank - other.rank);
  return keys;
}
