import { isObject, lengthOf, oneLine, quoted } from '../../shared/text.js';
import { shown } from '../explain-issues.js';
import { KEPT } from '../kept-limits.js';
import { asBoolean, asList, asObject, asText, isNothing, severityOf } from './repair-rules.js';
import { type RepairKind, Repairs } from './repairs.js';
import { type FieldShape, isEmpty, type Json, keysByField, type ObjectShape, type Wanted } from './shape.js';
import { DEFAULT_SEVERITY } from './synonyms.js';

/** Far more than a dispatch may give facts. */
export const MAX_ITEMS = 1000;

/** Reads the fields of a shape into `value`, except those already there. */
export function readFields(
  json: Json,
  shape: ObjectShape,
  path: string,
  value: Record<string, unknown>,
  repairs: Repairs,
): void {
  const found = keysByField(json, shape);
  for (const [field, expected] of shape.fields) {
    if (Object.hasOwn(value, field)) continue;
    const keys = (found.get(field) ?? []).map(({ key }) => key);
    const read = readField(json, field, expected, keys, path === '' ? field : `${path}.${field}`, repairs);
    if (read !== undefined) value[field] = read;
  }
}

/** Takes the first of a field's names whose value can be read; an empty one only if no other has a value. */
function readField(
  json: Json,
  field: string,
  { shape, required }: FieldShape,
  keys: readonly string[],
  place: string,
  repairs: Repairs,
): unknown {
  const readings = keys.map((key) => {
    const keyRepairs = new Repairs();
    return { key, keyRepairs, read: readValue(json[key], shape, field, place, keyRepairs) };
  });
  const readable = readings.filter(({ read }) => read !== undefined);
  const found = readable.find(({ read }) => !isEmpty(read)) ?? readable[0];
  for (const { key } of readings) {
    if (found === undefined && isAbsent(json[key], shape)) {
      repairs.note('absent', place, key === field ? undefined : `found ${key}`);
    } else if (key !== found?.key && !isEmpty(json[key])) {
      repairs.note('skipped', place, key === field ? shown(json[key]) : `found ${key}`);
    }
  }
  if (found !== undefined) {
    if (found.key !== field) repairs.note('renamed', place, `found ${found.key}`);
    repairs.take(found.keyRepairs);
    return found.read;
  }
  if (!required || field !== 'severity') return undefined;
  repairs.note('severity', place, `now ${DEFAULT_SEVERITY}`);
  return DEFAULT_SEVERITY;
}

function isAbsent(value: unknown, { wants }: Wanted): boolean {
  if (typeof value !== 'string') return value === null || value === undefined;
  return value.trim() === '' || (wants === 'list' && isNothing(value));
}

function readValue(value: unknown, shape: Wanted, field: string, place: string, repairs: Repairs): unknown {
  if (value === null || value === undefined) return undefined;
  switch (shape.wants) {
    case 'text':
      return readText(value, field, place, shape.schema, repairs);
    case 'boolean':
      return typeof value === 'boolean' ? value : noted('boolean', asBoolean(value), value, place, repairs);
    case 'choice':
      return readSeverity(value, shape.values, place, repairs);
    case 'list':
      return readList(value, shape, field, place, repairs);
    case 'object':
      return readObject(value, shape, field, place, repairs);
  }
}

/** Notes the repair of a value, unless there is none. */
function noted<Value>(
  kind: RepairKind,
  repaired: Value | undefined,
  value: unknown,
  place: string,
  repairs: Repairs,
): Value | undefined {
  if (repaired !== undefined) repairs.note(kind, place, typeof value === 'object' ? undefined : shown(value));
  return repaired;
}

export function readText(
  value: unknown,
  field: string,
  place: string,
  schema: { safeParse(value: unknown): { success: boolean } },
  repairs: Repairs,
): string | undefined {
  const text = typeof value === 'string' ? value : noted('text', asText(value, field), value, place, repairs);
  return text !== undefined && schema.safeParse(text).success ? text : undefined;
}

/** Reads a severity, the only choice that is not a verdict; an unknown one is important. */
function readSeverity(value: unknown, values: readonly string[], place: string, repairs: Repairs): string {
  if (typeof value === 'string' && values.includes(value)) return value;
  const severity = (typeof value === 'string' ? severityOf(value) : undefined) ?? DEFAULT_SEVERITY;
  repairs.note('severity', place, `${shown(value)} as ${severity}`);
  return severity;
}

function readList(
  value: unknown,
  { item, most = Number.POSITIVE_INFINITY }: Extract<Wanted, { wants: 'list' }>,
  field: string,
  place: string,
  repairs: Repairs,
): readonly unknown[] | undefined {
  const made = Array.isArray(value) ? undefined : asList(value, field);
  const kind = made?.length === 0 ? 'absent' : 'list';
  const given: readonly unknown[] | undefined = Array.isArray(value)
    ? value
    : noted(kind, made, value, place, repairs);
  if (given === undefined) return undefined;
  const items: unknown[] = [];
  if (given.length > MAX_ITEMS) repairs.note('clipped', place, `${MAX_ITEMS} of ${given.length} items read`);
  for (const [at, element] of given.slice(0, MAX_ITEMS).entries()) {
    const elementRepairs = new Repairs();
    const read = readValue(element, item, field, `${place}.${at}`, elementRepairs);
    if (read === undefined) repairs.note('skipped', `${place}.${at}`, shown(element));
    else {
      items.push(read);
      repairs.take(elementRepairs);
    }
  }
  // A value that was not a list cannot mean an empty list.
  if (items.length === 0 && !Array.isArray(value)) return undefined;
  if (items.length > most) repairs.note('clipped', place, `${most} of ${items.length} kept`);
  return items.slice(0, most);
}

function readObject(
  value: unknown,
  shape: ObjectShape,
  field: string,
  place: string,
  repairs: Repairs,
): Json | undefined {
  const json = isObject(value) ? value : noted('object', asObject(value, field), value, place, repairs);
  if (json === undefined) return undefined;
  const read: Record<string, unknown> = {};
  readFields(json, shape, place, read, repairs);
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
    if (typeof value !== 'string' || value.length <= most) return;
    cut(field, most, lengthOf(shown(value)), 'characters');
  };
  const walk = (value: unknown, path: string): void => {
    text(value, path, MAX_TEXT, oneLine);
    if (Array.isArray(value)) cut(path, MAX_LIST, value.length, 'items');
    const list = Array.isArray(value) ? value.slice(0, MAX_LIST) : undefined;
    const inner = list ?? (isObject(value) ? value : {});
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
