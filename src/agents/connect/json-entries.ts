import { isDeepStrictEqual } from 'node:util';
import { applyEdits, type JSONPath, modify, type ParseError, parse } from 'jsonc-parser';
import { ThroughlineError } from '../../contracts/errors.js';
import { isObject } from '../../shared/text.js';

/** Our entries in JSON with comments: fields of objects, items of lists. Edits keep the values of others and the text around. */
export interface JsonEntries {
  readonly fields: readonly JsonField[];
  readonly lists?: JsonLists;
}

interface JsonField {
  readonly path: readonly string[];
  /** An object; fields that the user adds to it are kept. */
  readonly value: object;
  /** Recognises our value; any other value at this path is never changed. */
  readonly isOurs: (value: unknown) => boolean;
}

interface JsonLists {
  /** The object with the lists, such as `hooks`. */
  readonly under: string;
  /** Our item of each list, by the name of the list. */
  readonly items: Readonly<Record<string, unknown>>;
  readonly isOurs: (item: unknown) => boolean;
  /** Field of an item with a list that may mix our items with others. */
  readonly inner?: string;
}

const NO_LISTS: JsonLists = { under: '', items: {}, isOurs: () => false };

/**
 * Returns the text with all current entries, each once.
 *
 * @param name of the file, for messages
 * @throws ThroughlineError `config_invalid` for a text that is not JSON, or has another value in our place
 */
export function withEntries(text: string, entries: JsonEntries, name: string): string {
  if (hasAll(text, entries, name)) return text;
  let result = withoutEntries(text, entries, name);
  for (const { path, value, isOurs } of entries.fields) {
    if (valueAt(result, path, name) !== undefined)
      throw unusable(
        name,
        `${path.join('.')} is an entry that "throughline connect" did not write: give it another name, or remove it`,
      );
    const holder = path.slice(0, -1);
    const around = valueAt(result, holder, name) ?? {};
    if (!isObject(around)) throw wrongType(name, holder.join('.'), 'an object');
    // Keeps fields that the user added to our entry, such as `env`.
    const existing = valueAt(text, path, name);
    result = edited(result, path, { ...value, ...(isOurs(existing) && without(existing, value)) });
  }
  const { under, items } = entries.lists ?? NO_LISTS;
  for (const [list, item] of Object.entries(items)) {
    const there = valueAt(result, [under, list], name) ?? [];
    if (!Array.isArray(there)) throw wrongType(name, `${under}.${list}`, 'a list');
    result = edited(result, [under, list, -1], item);
  }
  return result;
}

/** Returns true if the text has every current entry once, and no outdated ones. */
export function hasAll(text: string, { fields, lists = NO_LISTS }: JsonEntries, name: string): boolean {
  if (!fields.every(({ path, value }) => hasFields(valueAt(text, path, name), value))) return false;
  const wanted = Object.entries(lists.items).map(([list, item]) => ({ list, items: [item] }));
  const found = listsIn(text, lists, name)
    .map(({ list, items }) => ({ list, items: items.flatMap((item) => oursIn(item, lists)) }))
    .filter(({ items }) => items.length > 0);
  return (
    found.length === wanted.length &&
    wanted.every((one) => found.some((other) => isDeepStrictEqual(other, one)))
  );
}

export function hasAny(text: string, { fields, lists = NO_LISTS }: JsonEntries, name: string): boolean {
  return (
    fields.some(({ path, isOurs }) => isOurs(valueAt(text, path, name))) ||
    listsIn(text, lists, name).some(({ items }) => items.some((item) => oursIn(item, lists).length > 0))
  );
}

export function withoutEntries(text: string, { fields, lists = NO_LISTS }: JsonEntries, name: string) {
  let result = text;
  for (const { path, isOurs } of fields) {
    if (isOurs(valueAt(result, path, name))) result = removed(result, path, name);
  }
  for (const { list, items } of listsIn(result, lists, name)) {
    const path = [lists.under, list];
    const rest = items.flatMap((item) => withoutOurs(item, lists));
    if (rest.length === 0 && items.length > 0) result = removed(result, path, name);
    else if (!isDeepStrictEqual(rest, items)) result = edited(result, path, rest);
  }
  return result;
}

function listsIn(text: string, { under }: JsonLists, name: string) {
  const lists = valueAt(text, [under], name) ?? {};
  if (!isObject(lists)) throw wrongType(name, under, 'an object');
  return Object.entries(lists).flatMap(([list, items]) => (Array.isArray(items) ? [{ list, items }] : []));
}

function oursIn(item: unknown, { isOurs, inner = '' }: JsonLists): readonly unknown[] {
  return isOurs(item) ? [item] : innerItems(item, inner).filter(isOurs);
}

function withoutOurs(item: unknown, lists: JsonLists): readonly unknown[] {
  const { isOurs, inner = '' } = lists;
  if (oursIn(item, lists).length === 0) return [item];
  const rest = innerItems(item, inner).filter((one) => !isOurs(one));
  return isOurs(item) || !isObject(item) || rest.length === 0 ? [] : [{ ...item, [inner]: rest }];
}

function innerItems(item: unknown, inner: string): readonly unknown[] {
  const list = isObject(item) ? item[inner] : undefined;
  return Array.isArray(list) ? list : [];
}

/** Removes a field, and the object around it if that becomes empty. */
function removed(text: string, path: readonly string[], name: string): string {
  const holder = path.slice(0, -1);
  const isAlone = Object.keys(valueAt(text, holder, name) ?? {}).length === 1;
  return edited(text, isAlone && holder.length > 0 ? holder : path, undefined);
}

/** Returns the text with a value at a path, or without it if the value is undefined. */
export function edited(text: string, path: Readonly<JSONPath>, value: unknown): string {
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const formattingOptions = { insertSpaces: !unit.startsWith('\t'), tabSize: unit.length, eol: eolOf(text) };
  return applyEdits(text, modify(text, [...path], value, { formattingOptions }));
}

function hasFields(there: unknown, value: object): boolean {
  return isObject(there) && Object.entries(value).every(([key, item]) => isDeepStrictEqual(there[key], item));
}

function without(there: unknown, value: object): object {
  return Object.fromEntries(Object.entries(isObject(there) ? there : {}).filter(([key]) => !(key in value)));
}

function valueAt(text: string, path: readonly string[], name: string): unknown {
  const errors: ParseError[] = [];
  const whole: unknown = unlessTooDeep(() => parse(text, errors, { allowTrailingComma: true }));
  const [error] = errors;
  if (whole === undefined || error !== undefined) {
    const line = text.slice(0, error?.offset ?? 0).split('\n').length;
    throw unusable(name, `line ${line} is not JSON: repair it, then run this again`);
  }
  if (!isObject(whole)) throw wrongType(name, 'the file', 'an object');
  return path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), whole);
}

export function unusable(file: string, why: string, cause?: unknown): ThroughlineError {
  return new ThroughlineError('config_invalid', `${file}: ${why}`, { cause });
}

/** Runs a recursive parser; returns undefined for a text that is nested too deeply. */
export function unlessTooDeep<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function wrongType(name: string, path: string, type: string): ThroughlineError {
  return unusable(name, `${path} is not ${type}: repair it, then run this again`);
}
