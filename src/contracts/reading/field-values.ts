import { isObject } from '../../shared/text.js';
import { shown } from '../explain-issues.js';
import { joined } from '../results.js';
import {
  BOOLEAN_RULES,
  isNothing,
  LIST_RULES,
  MISSING_RULES,
  OBJECT_RULES,
  type RepairRule,
  severityOf,
  TEXT_RULES,
} from './repair-rules.js';
import { Repairs } from './repairs.js';
import {
  type FieldShape,
  isEmpty,
  type Json,
  type Key,
  keysFor,
  lineInFile,
  type ObjectShape,
  type Wanted,
} from './shape.js';
import { DEFAULT_SEVERITY, plainName } from './synonyms.js';

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
  for (const [field, expected] of shape.fields) {
    if (Object.hasOwn(value, field)) continue;
    const place = path === '' ? field : `${path}.${field}`;
    const candidates = keysFor(field, json, shape);
    const read = readField(json, field, expected, candidates, place, repairs);
    if (read !== undefined) value[field] = read;
  }
}

function readField(
  json: Json,
  field: string,
  { shape, required }: FieldShape,
  candidates: readonly Key[],
  place: string,
  repairs: Repairs,
): unknown {
  let found: { readonly key: string; readonly read: unknown } | undefined;
  let empty: { readonly key: string; readonly read: unknown; readonly own: Repairs } | undefined;
  for (const { key, rank } of candidates) {
    const own = new Repairs();
    const read = readValue(json[key], shape, field, place, own);
    if (read === undefined) {
      // If nothing is found, unreadable values are noted below.
      if (found !== undefined && !isEmpty(json[key])) repairs.note('skipped', place, `found ${key}`);
    } else if (found === undefined) {
      // An empty value does not hide a value under another name.
      if (isEmpty(read) && candidates.some((other) => other.key !== key && !isEmpty(json[other.key]))) {
        empty ??= { key, read, own };
        continue;
      }
      found = { key, read };
      if (key !== field) repairs.note('renamed', place, `found ${key}`);
      repairs.take(own);
    } else if (Array.isArray(found.read) && Array.isArray(read)) {
      const more = rank > 1 ? read.filter((item) => mayJoin(item, field)) : read;
      if (more.length < read.length) repairs.note('skipped', place, `found ${key}`);
      if (more.length === 0) continue;
      const most = shape.wants === 'list' ? (shape.most ?? MAX_ITEMS) : MAX_ITEMS;
      const all = joined(found.read, more);
      repairs.note('joined', place, `with ${key}`);
      found = { ...found, read: kept(all, most, place, repairs) };
      repairs.take(own);
    } else if (read !== found.read) repairs.note('skipped', place, `found ${key}`);
  }
  if (found === undefined && empty !== undefined) {
    found = empty;
    if (empty.key !== field) repairs.note('renamed', place, `found ${empty.key}`);
    repairs.take(empty.own);
  }
  if (found !== undefined) return found.read;
  const missing = required ? MISSING_RULES.find((rule) => rule.field === field) : undefined;
  const derived = missing?.apply(json, field);
  if (missing !== undefined && derived !== undefined) {
    const given = candidates.find(({ key }) => !isEmpty(json[key]));
    // A count was there, so the field was not missing.
    if (shape.wants === 'boolean' && given !== undefined)
      repairs.note('boolean', place, `${shown(json[given.key])} as ${derived}`);
    else repairs.note(missing.kind, place, shownDetail(derived));
    return derived;
  }
  for (const { key } of candidates) {
    const value = json[key];
    if (isAbsent(value, shape)) repairs.note('absent', place, key === field ? undefined : `found ${key}`);
    else if (key === field) repairs.note('skipped', place, shown(value));
  }
  return undefined;
}

/** `changes` may list files, or describe the changes. */
function mayJoin(item: unknown, field: string): boolean {
  return field !== 'files_modified' || (typeof item === 'string' && !/\s/.test(item.trim()));
}

function shownDetail(value: unknown): string {
  return `now ${shown(value)}`;
}

/** Removes a line number from a file name, so that the facts of one file stay together. */
function withoutLine(issue: Record<string, unknown>, place: string, repairs: Repairs): void {
  const found = typeof issue.file === 'string' ? lineInFile(issue.file) : undefined;
  if (found === undefined) return;
  issue.file = found.file;
  issue.message = `line ${found.line}: ${issue.message}`;
  repairs.note('line', `${place}.file`);
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
      return typeof value === 'boolean' ? value : byRules(BOOLEAN_RULES, value, field, place, repairs);
    case 'choice':
      return readChoice(value, shape.values, field, place, repairs);
    case 'list':
      return readList(value, shape, field, place, repairs);
    case 'object':
      return readObject(value, shape, field, place, repairs);
  }
}

function byRules<Value>(
  rules: readonly RepairRule<Value>[],
  value: unknown,
  field: string,
  place: string,
  repairs: Repairs,
): Value | undefined {
  for (const { kind, apply } of rules) {
    const made = apply(value, field);
    if (made === undefined) continue;
    repairs.note(kind, place, typeof value === 'object' ? undefined : shown(value));
    return made;
  }
  return undefined;
}

export function readText(
  value: unknown,
  field: string,
  place: string,
  schema: { safeParse(value: unknown): { success: boolean } },
  repairs: Repairs,
): string | undefined {
  const text = typeof value === 'string' ? value : byRules(TEXT_RULES, value, field, place, repairs);
  return text !== undefined && schema.safeParse(text).success ? text : undefined;
}

function readChoice(
  value: unknown,
  values: readonly string[],
  field: string,
  place: string,
  repairs: Repairs,
): string | undefined {
  if (typeof value === 'string' && values.includes(value)) return value;
  if (field === 'severity') {
    const severity = (typeof value === 'string' ? severityOf(value) : undefined) ?? DEFAULT_SEVERITY;
    repairs.note('severity', place, `${shown(value)} as ${severity}`);
    return severity;
  }
  const plain = typeof value === 'string' ? plainName(value) : '';
  const meant = values.find((each) => plainName(each) === plain);
  if (meant !== undefined) repairs.note('text', place, shown(value));
  return meant;
}

function readList(
  value: unknown,
  { item, most = Number.POSITIVE_INFINITY }: Extract<Wanted, { wants: 'list' }>,
  field: string,
  place: string,
  repairs: Repairs,
): readonly unknown[] | undefined {
  const given: readonly unknown[] | undefined = Array.isArray(value)
    ? value
    : byRules(LIST_RULES, value, field, place, repairs);
  if (given === undefined) return undefined;
  const items: unknown[] = [];
  const nested = item.wants === 'text' && given.some(Array.isArray);
  const all = nested ? given.flat() : given;
  if (all.length > MAX_ITEMS) repairs.note('clipped', place, `${MAX_ITEMS} of ${all.length} items read`);
  for (const [at, each] of all.slice(0, MAX_ITEMS).entries()) {
    const own = new Repairs();
    const read = readValue(each, item, field, `${place}.${at}`, own);
    if (read === undefined) repairs.note('skipped', `${place}.${at}`, shown(each));
    else {
      items.push(read);
      repairs.take(own);
    }
  }
  if (nested) repairs.note('list', place);
  // A value that was not a list cannot mean an empty list.
  if (items.length === 0 && !Array.isArray(value)) return undefined;
  return kept(items, most, place, repairs);
}

export function kept(
  items: readonly unknown[],
  most: number,
  place: string,
  repairs: Repairs,
): readonly unknown[] {
  if (items.length <= most) return items;
  repairs.note('clipped', place, `${most} of ${items.length} kept`);
  return items.slice(0, most);
}

function readObject(
  value: unknown,
  shape: ObjectShape,
  field: string,
  place: string,
  repairs: Repairs,
): Json | undefined {
  const json = isObject(value) ? value : byRules(OBJECT_RULES, value, field, place, repairs);
  if (json === undefined) return undefined;
  const read: Record<string, unknown> = {};
  readFields(json, shape, place, read, repairs);
  for (const [name, { required }] of shape.fields) if (required && read[name] === undefined) return undefined;
  if (field === 'issues') withoutLine(read, place, repairs);
  // Fields that are valid alone may still be invalid together.
  return shape.schema.safeParse(read).success ? read : undefined;
}
