import type { z } from 'zod';
import { isObject, lengthOf, oneLine, quoted } from '../../shared/text.js';
import { explainIssues, shown } from '../checked.js';
import { KEPT } from '../kept-limits.js';
import { SEVERITIES } from '../kinds.js';
import { asBoolean, asList, asObject, asText, isNothing } from './repair-rules.js';
import { type RepairKind, Repairs } from './repairs.js';
import {
  type FieldShape,
  isEmpty,
  type Json,
  type Key,
  keysByField,
  type ObjectShape,
  type Wanted,
} from './shape.js';
import { DEFAULT_SEVERITY, meantBy, SEVERITY_WORDS } from './synonyms.js';

/** Far more than a dispatch may give facts. */
const MAX_ITEMS = 1000;

/** A value is read at a place: its field and path, with the repairs that are made there. */
interface Place {
  readonly field: string;
  readonly path: string;
  readonly repairs: Repairs;
}

/** Reads the fields of a shape, except the known ones, which it returns as well. */
export function readFields(json: Json, shape: ObjectShape, known: Json, repairs: Repairs, path = ''): Json {
  const value: Record<string, unknown> = { ...known };
  const keys = keysByField(json, shape);
  for (const [field, expected] of shape.fields) {
    if (Object.hasOwn(known, field)) continue;
    const at = { field, path: path === '' ? field : `${path}.${field}`, repairs };
    const read = readField(json, keys.get(field) ?? [], expected, at);
    if (read !== undefined) value[field] = read;
  }
  return value;
}

/** Takes the first of a field's names whose value can be read; an empty one only if no other has a value. */
function readField(json: Json, keys: readonly Key[], { shape, required }: FieldShape, at: Place): unknown {
  const { field, path, repairs } = at;
  const readings = keys.map(({ key }) => {
    const keyRepairs = new Repairs();
    return { key, keyRepairs, read: readValue(json[key], shape, { ...at, repairs: keyRepairs }) };
  });
  const readable = readings.filter(({ read }) => read !== undefined);
  const found = readable.find(({ read }) => !isEmpty(read)) ?? readable[0];
  for (const { key } of readings) {
    if (found === undefined && isAbsent(json[key], shape)) {
      repairs.note('absent', path, key === field ? undefined : `found ${key}`);
    } else if (key !== found?.key && !isEmpty(json[key])) {
      const name = found === undefined ? path : `${path.slice(0, -field.length)}${oneLine(key)}`;
      repairs.note('skipped', name, key === field ? shown(json[key]) : `found ${found?.key ?? key}`);
    }
  }
  if (found !== undefined) {
    if (found.key !== field) repairs.note('renamed', path, `found ${found.key}`);
    repairs.take(found.keyRepairs);
    return found.read;
  }
  if (!required || field !== 'severity') return undefined;
  repairs.note('severity', path, `now ${DEFAULT_SEVERITY}`);
  return DEFAULT_SEVERITY;
}

function isAbsent(value: unknown, { wants }: Wanted): boolean {
  if (typeof value !== 'string') return value === null || value === undefined;
  return value.trim() === '' || (wants === 'list' && isNothing(value));
}

function readValue(value: unknown, shape: Wanted, at: Place): unknown {
  if (value === null || value === undefined) return undefined;
  switch (shape.wants) {
    case 'text':
      return readText(value, shape.schema, at);
    case 'boolean':
      return typeof value === 'boolean' ? value : noted('boolean', asBoolean(value), value, at);
    case 'choice':
      return readSeverity(value, shape.values, at);
    case 'list':
      return readList(value, shape, at);
    case 'object':
      return readObject(value, shape, at);
  }
}

/** Notes the repair of a value, unless there is none. */
function noted<Value>(kind: RepairKind, repaired: Value | undefined, value: unknown, at: Place) {
  const detail = typeof value === 'object' ? undefined : shown(value);
  if (repaired !== undefined) at.repairs.note(kind, at.path, detail);
  return repaired;
}

export function readText(value: unknown, schema: z.ZodType, at: Place): string | undefined {
  const text = typeof value === 'string' ? value : noted('text', asText(value, at.field), value, at);
  return text !== undefined && schema.safeParse(text).success ? text : undefined;
}

/** Reads a severity, the only choice that is not a verdict; an unknown one is important. */
function readSeverity(value: unknown, values: readonly string[], { path, repairs }: Place): string {
  if (typeof value === 'string' && values.includes(value)) return value;
  const meant = typeof value === 'string' ? meantBy(value, SEVERITIES, SEVERITY_WORDS) : undefined;
  const severity = meant ?? DEFAULT_SEVERITY;
  repairs.note('severity', path, `${shown(value)} as ${severity}`);
  return severity;
}

type ListShape = Extract<Wanted, { wants: 'list' }>;

function readList(value: unknown, { item, most = Number.POSITIVE_INFINITY }: ListShape, at: Place) {
  const { field, path, repairs } = at;
  const made = Array.isArray(value) ? undefined : asList(value, field);
  const kind = made?.length === 0 ? 'absent' : 'list';
  const given: readonly unknown[] | undefined = Array.isArray(value) ? value : noted(kind, made, value, at);
  if (given === undefined) return undefined;
  const items: unknown[] = [];
  if (given.length > MAX_ITEMS) repairs.note('clipped', path, `${MAX_ITEMS} of ${given.length} items read`);
  for (const [index, element] of given.slice(0, MAX_ITEMS).entries()) {
    const place = { field, path: `${path}.${index}`, repairs: new Repairs() };
    const read = readValue(element, item, place);
    if (read === undefined) {
      const why = isObject(element) && item.wants === 'object' ? explainIssues(item.schema, element) : '';
      repairs.note('skipped', place.path, why || shown(element));
    } else {
      items.push(read);
      repairs.take(place.repairs);
    }
  }
  // A value that was not a list cannot mean an empty list.
  if (items.length === 0 && !Array.isArray(value)) return undefined;
  if (items.length > most) repairs.note('clipped', path, `${most} of ${items.length} kept`);
  return items.slice(0, most);
}

function readObject(value: unknown, shape: ObjectShape, at: Place): Json | undefined {
  const json = isObject(value) ? value : noted('object', asObject(value, at.field), value, at);
  if (json === undefined) return undefined;
  const read = readFields(json, shape, {}, at.repairs, at.path);
  for (const [name, { required }] of shape.fields) if (required && read[name] === undefined) return undefined;
  // Fields that are valid alone may still be invalid together.
  return shape.schema.safeParse(read).success ? read : undefined;
}

const { text: MAX_TEXT, list: MAX_LIST } = KEPT.outcome;

/** Notes the texts and lists that the event of a valid result will cut. */
export function noteClipped(result: object, repairs: Repairs): void {
  const cut = (field: string, kept: number, all: number, what: string): void => {
    if (all > kept) repairs.note('clipped', field, `${kept} of ${all} ${what} kept`);
  };
  const text = (value: unknown, field: string, most: number, shown: (text: string) => string): void => {
    if (typeof value === 'string' && value.length > most)
      cut(field, most, lengthOf(shown(value)), 'characters');
  };
  const walk = (value: unknown, path: string): void => {
    text(value, path, MAX_TEXT, oneLine);
    if (Array.isArray(value)) cut(path, MAX_LIST, value.length, 'items');
    const inner = Array.isArray(value) ? value.slice(0, MAX_LIST) : isObject(value) ? value : {};
    for (const [key, item] of Object.entries(inner)) walk(item, path === '' ? key : `${path}.${key}`);
  };
  // Each fact is an event's own line, with limits of its own.
  const { facts = [], ...fields }: { readonly facts?: readonly Json[] } = result;
  walk(fields, '');
  for (const [at, fact] of facts.entries()) {
    for (const part of ['subject', 'relation', 'object'] as const)
      text(fact[part], `facts.${at}.${part}`, KEPT.fact[part], quoted);
  }
}
