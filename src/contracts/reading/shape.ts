import { z } from 'zod';
import { addTo } from '../../shared/collections.js';
import { isSlipOf } from '../../shared/nearest-name.js';
import { isObject } from '../../shared/text.js';
import { limitOf } from '../checked.js';
import { KEPT } from '../kept-limits.js';
import { kindOf, ROLES, type Role, type VerdictField } from '../kinds.js';
import { resultFields } from '../results.js';
import type { Json } from './repair-rules.js';
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
    const roleShape = objectShape(z.object(resultFields(role)));
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
  return { wants: 'object', schema, fields, meant };
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
  return { shape: shapeOf(inner), required: inner === schema };
}

export function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

/** True for a note without summary and facts. */
export function saysNothing({ summary, facts }: Json, role: Role): boolean {
  return kindOf(role).part === 'note' && isEmpty(summary) && isEmpty(facts);
}

/** Parts of a fact have limits of their own. */
const { subject, relation, object } = KEPT.fact;
const MAX_TEXT_OF: { readonly [field: string]: number | undefined } = { subject, relation, object };

/** True if each field has its own name and the kind of value that it must have, and nothing is cut: no rule of reading applies. */
export function isExact(value: unknown, shape: Wanted, mostText: number = KEPT.outcome.text): boolean {
  if (shape.wants === 'boolean') return typeof value === 'boolean';
  if (shape.wants === 'list') {
    const isWhole = Array.isArray(value) && value.length <= KEPT.outcome.list;
    return isWhole && value.every((item) => isExact(item, shape.item, mostText));
  }
  if (shape.wants !== 'object') return typeof value === 'string' && value.length <= mostText;
  if (!isObject(value)) return false;
  return Object.keys(value).every((key) => {
    const field = shape.fields.get(key)?.shape;
    return field !== undefined && isExact(value[key], field, MAX_TEXT_OF[key]);
  });
}

export type { Json };

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

/** Returns the keys that mean each field, the surest first. */
export function keysByField(json: Json, { fields, meant }: ObjectShape): ReadonlyMap<string, readonly Key[]> {
  const found = new Map<string, Key[]>();
  for (const key of fields.keys()) if (Object.hasOwn(json, key)) found.set(key, [{ key, rank: 0 }]);
  for (const key of firstKeys(json)) {
    const meaning = meant(key);
    if (meaning !== undefined && meaning.rank > 0) addTo(found, meaning.field, { key, rank: meaning.rank });
  }
  for (const keys of found.values()) keys.sort((one, other) => one.rank - other.rank);
  return found;
}

export function keysFor(field: string, json: Json, shape: ObjectShape): readonly Key[] {
  return keysByField(json, shape).get(field) ?? [];
}
