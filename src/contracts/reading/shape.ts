import { z } from 'zod';
import { isSlipOf } from '../../shared/nearest-name.js';
import { kindOf, ROLES, type Role, type VerdictField } from '../kinds.js';
import { insideOf, limitOf } from '../list-limits.js';
import { RESULTS } from '../results.js';
import { ALIASES, MAX_NAME, plainName } from './synonyms.js';

/** A schema in the form that reading needs. */
export type Wanted =
  | { readonly wants: 'text' | 'boolean'; readonly schema: z.ZodType }
  | { readonly wants: 'choice'; readonly schema: z.ZodType; readonly values: readonly string[] }
  | { readonly wants: 'list'; readonly item: Wanted; readonly most: number | undefined }
  | ObjectShape;

export interface ObjectShape {
  readonly wants: 'object';
  readonly schema: z.ZodType;
  readonly fields: ReadonlyMap<string, FieldShape>;
  /** The shapes of fields that are lists of objects. */
  readonly items: ReadonlyMap<string, ObjectShape>;
  /** Returns the field that a name may mean, with a rank: 0 is its own name, 1 the same letters, higher an alias. */
  readonly meant: (name: string) => Meaning | undefined;
}

interface Meaning {
  readonly field: string;
  readonly rank: number;
}

export interface FieldShape {
  readonly shape: Wanted;
  readonly required: boolean;
}

export interface ResultShape extends ObjectShape {
  readonly role: Role;
  readonly verdictField: VerdictField | undefined;
  /** Returns the field of another kind that a name means, if this kind has none for it. */
  readonly foreign: (name: string) => string | undefined;
}

/** Limit of keys per object that are looked at as aliases or wrappers. */
const MAX_KEYS = 1000;
/** Limit of cached names per object. */
const MAX_REMEMBERED = 1000;

const known = new Map<Role, ResultShape>();

export function resultShape(role: Role): ResultShape {
  let shape = known.get(role);
  if (shape === undefined) {
    const roleShape = objectShape(objectIn(RESULTS[role]));
    const { verdictField } = kindOf(role);
    shape = { ...roleShape, role, verdictField, foreign: (name) => foreignField(name, role, roleShape) };
    known.set(role, shape);
  }
  return shape;
}

function foreignField(name: string, role: Role, roleShape: ObjectShape): string | undefined {
  if (roleShape.meant(name) !== undefined) return undefined;
  for (const other of ROLES) {
    if (other === role) continue;
    const { meant, fields } = resultShape(other);
    const meaning = meant(name);
    if (meaning === undefined || roleShape.fields.has(meaning.field)) continue;
    // Vague aliases of text fields mean many things.
    if (meaning.rank <= 1 || fields.get(meaning.field)?.shape.wants === 'list') return meaning.field;
  }
  return undefined;
}

function shapeOf(schema: z.ZodType): Wanted {
  if (schema instanceof z.ZodArray)
    return { wants: 'list', item: shapeOf(schema.element as z.ZodType), most: limitOf(schema) };
  if (schema instanceof z.ZodObject) return objectShape(schema);
  if (schema instanceof z.ZodEnum) return { wants: 'choice', schema, values: schema.options.map(String) };
  return { wants: schema instanceof z.ZodBoolean ? 'boolean' : 'text', schema };
}

function objectShape(schema: z.ZodObject): ObjectShape {
  const fields = new Map(
    Object.entries(schema.shape).map(([name, field]) => [name, fieldShape(field as z.ZodType)] as const),
  );
  const plain = new Map<string, Meaning>();
  const found = new Map<string, Meaning | null>();
  for (const field of fields.keys()) plain.set(plainName(field), { field, rank: 1 });
  for (const field of fields.keys()) {
    for (const [at, alias] of (ALIASES[field] ?? []).entries()) {
      if (!plain.has(alias)) plain.set(alias, { field, rank: at + 2 });
    }
  }
  for (const field of fields.keys()) found.set(field, { field, rank: 0 });
  const meant = (name: string) => {
    const known = found.get(name);
    if (known !== undefined) return known ?? undefined;
    const meaning = plain.get(plainName(name)) ?? slipOf(plainName(name), fields);
    // Agents use few names, but anyone may send any number.
    if (found.size < MAX_REMEMBERED && name.length <= MAX_NAME) found.set(name, meaning ?? null);
    return meaning;
  };
  const items = new Map<string, ObjectShape>();
  for (const [field, { shape }] of fields)
    if (shape.wants === 'list' && shape.item.wants === 'object') items.set(field, shape.item);
  return { wants: 'object', schema, fields, items, meant };
}

/** Shorter names are too near to other words. */
const LEAST_SLIP = 6;

/** Returns the optional field whose name was misspelt by a letter: a misread verdict would do harm, a missing one is reported. */
function slipOf(name: string, fields: ReadonlyMap<string, FieldShape>): Meaning | undefined {
  if (name.length < LEAST_SLIP) return undefined;
  for (const [field, { required }] of fields)
    if (!required && isSlipOf(name, plainName(field))) return { field, rank: Number.MAX_SAFE_INTEGER };
  return undefined;
}

function fieldShape(schema: z.ZodType): FieldShape {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  const shape = shapeOf(inner);
  return { shape, required: inner === schema };
}

/** Ignores transforms. */
function objectIn(schema: unknown): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema;
  for (const inner of insideOf(schema)) if (inner instanceof z.ZodObject) return inner;
  throw new Error('a result must be an object');
}

/**
 * Returns true if a valid result uses only its own field names. Unknown keys are ignored unless they may mean a field
 * or a verdict.
 */
export function usesOwnNames(json: Json, shape: ObjectShape, whole?: ResultShape): boolean {
  return firstKeys(json).every((key) => {
    const meant = shape.meant(key);
    const value = json[key];
    if (meant === undefined) {
      const isFlag = whole?.verdictField !== undefined && flagOf(value) !== undefined;
      return !isFlag && (isEmpty(value) || whole?.foreign(key) === undefined);
    }
    // A field under a second name is noted. `id` is too common to count.
    if (meant.rank > 0) return meant.field === 'task_id' && meant.rank > 1 && json.task_id !== undefined;
    const items = shape.items.get(key);
    return items === undefined || !Array.isArray(value) || value.every((item) => usesOwnNames(item, items));
  });
}

/** Reads true or false, also in words; `undefined` for anything else. */
export function flagOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' || value.length > 10) return undefined;
  const word = value.trim().toLowerCase();
  if (word === 'true' || word === 'yes') return true;
  return word === 'false' || word === 'no' ? false : undefined;
}

export function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

export type Json = Readonly<Record<string, unknown>>;

const first = new WeakMap<Json, readonly string[]>();

/** Returns at most `MAX_KEYS` keys. Cached, since an object may have a hundred thousand. */
export function firstKeys(json: Json): readonly string[] {
  const keys = first.get(json) ?? Object.keys(json).slice(0, MAX_KEYS);
  first.set(json, keys);
  return keys;
}

export interface Key {
  readonly key: string;
  readonly rank: number;
}

/** The surest first. */
export function keysFor(field: string, json: Json, shape: ObjectShape): readonly Key[] {
  const exact: Key[] = Object.hasOwn(json, field) ? [{ key: field, rank: 0 }] : [];
  const others = firstKeys(json).flatMap((key): Key[] => {
    const meant = shape.meant(key);
    return meant === undefined || meant.field !== field || meant.rank === 0
      ? []
      : [{ key, rank: meant.rank }];
  });
  return [...exact, ...others.sort((one, other) => one.rank - other.rank)];
}
