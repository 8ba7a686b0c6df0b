import { isDeepStrictEqual } from 'node:util';
import { findNodeAtLocation, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { ThroughlineError } from '../../contracts/errors.js';
import { isObject } from '../../shared/text.js';

/**
 * Our entries in a JSON file with comments: fields of objects, and items of lists. Edits insert and remove text, and keep every
 * other byte. Entries are inserted at the end, so that removing them restores the previous text.
 */
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
  /** Recognises our items, in the list or in a list inside an item. */
  readonly isOurs: (item: unknown) => boolean;
  /** Field of an item with a list that may mix our items with others. */
  readonly inner?: string;
}

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
    const there = valueAt(result, path, name);
    if (there !== undefined && !isOurs(there))
      throw unusable(
        name,
        `${path.join('.')} is an entry that "throughline connect" did not write: give it another name, or remove it`,
      );
    // Keeps fields that the user added to our entry, such as `env`.
    const existing = valueAt(text, path, name);
    result = added(result, path, { ...value, ...(isOurs(existing) && without(existing, value)) }, name);
  }
  const { under, items } = entries.lists ?? { under: '', items: {} };
  for (const [list, item] of Object.entries(items)) {
    const node = nodeAt(result, [under, list], name);
    if (node !== undefined && node.type !== 'array') throw wrongType(name, `${under}.${list}`, 'a list');
    result =
      node === undefined
        ? added(result, [under, list], [item], name)
        : insertLast(result, node, undefined, item);
  }
  return result;
}

/** Returns true if the text has every current entry once, and no outdated ones. */
export function hasAll(text: string, { fields, lists }: JsonEntries, name: string): boolean {
  if (!fields.every(({ path, value }) => hasFields(valueAt(text, path, name), value))) return false;
  if (lists === undefined) return true;
  const { items } = lists;
  const found = ours(text, lists, name);
  const wanted = Object.entries(items);
  return (
    found.length === wanted.length &&
    wanted.every(([list, item]) =>
      found.some((entry) => entry.list === list && isDeepStrictEqual(entry.value, item)),
    )
  );
}

export function hasAny(text: string, { fields, lists }: JsonEntries, name: string): boolean {
  return (
    fields.some(({ path, isOurs }) => isOurs(valueAt(text, path, name))) ||
    (lists !== undefined && ours(text, lists, name).length > 0)
  );
}

/** Returns the text without our entries, and without objects and lists that only contained them. */
export function withoutEntries(text: string, { fields, lists }: JsonEntries, name: string): string {
  let result = text;
  for (const { path, isOurs } of fields) {
    const node = nodeAt(result, path, name);
    if (node !== undefined && isOurs(plain(node))) result = removed(result, node, name);
  }
  for (; lists !== undefined; ) {
    const found = ours(result, lists, name);
    const [first] = found;
    if (first === undefined) break;
    // Each removal parses the whole file again.
    if (found.length > MAX_OURS)
      throw unusable(
        name,
        `${lists.under} has ${found.length} entries that run throughline: remove them by hand, then run this again`,
      );
    result = removed(result, first.node, name);
  }
  return result;
}

/** Largest number of our entries in a file; normally there is one for each event of a client. */
const MAX_OURS = 200;

interface Found {
  readonly list: string;
  readonly node: Node;
  readonly value: unknown;
}

/** Returns our items of all lists, also inside other items. */
function ours(text: string, { under, isOurs, inner }: JsonLists, name: string): Found[] {
  const object = nodeAt(text, [under], name);
  if (object === undefined) return [];
  if (object.type !== 'object') throw wrongType(name, under, 'an object');
  return (object.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? [];
    if (key === undefined || value?.type !== 'array') return [];
    return (value.children ?? []).flatMap((item) => {
      const nodes = [item, ...innerItems(item, inner)];
      const whole = isOurs(plain(item)) ? [item] : nodes.slice(1).filter((node) => isOurs(plain(node)));
      return whole.map((node) => ({ list: String(key.value), node, value: plain(node) }));
    });
  });
}

function innerItems(item: Node, inner: string | undefined): Node[] {
  const list = inner === undefined ? undefined : findNodeAtLocation(item, [inner]);
  return list?.type === 'array' ? (list.children ?? []) : [];
}

function added(text: string, path: readonly string[], value: unknown, name: string): string {
  const [first = '', ...rest] = path;
  const parent = treeOf(text, name);
  const node = findNodeAtLocation(parent, [first]);
  if (rest.length === 0) return insertLast(text, parent, first, value);
  if (node === undefined) {
    return insertLast(
      text,
      parent,
      first,
      rest.reduceRight<unknown>((inside, key) => ({ [key]: inside }), value),
    );
  }
  if (node.type !== 'object') throw wrongType(name, first, 'an object');
  return insertLast(text, node, rest[0] ?? '', value);
}

function insertLast(text: string, parent: Node, key: string | undefined, value: unknown): string {
  const eol = eolOf(text);
  const last = parent.children?.at(-1);
  const outer = lineIndent(text, parent.offset);
  const unit = unitOf(text);
  const indent =
    last !== undefined && startsLine(text, last.offset) ? lineIndent(text, last.offset) : outer + unit;
  const json = JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`);
  const entry = `${eol}${indent}${key === undefined ? '' : `${JSON.stringify(key)}: `}${json}`;
  const from = last === undefined ? parent.offset + 1 : endOf(last);
  const { comma, end } = trivia(text, from);
  const tail = text.slice(end, endOf(parent) - 1).includes('\n') ? '' : `${eol}${outer}`;
  const between = last === undefined || comma !== undefined ? '' : ',';
  return `${text.slice(0, from)}${between}${text.slice(from, end)}${entry}${comma === undefined ? '' : ','}${tail}${text.slice(end)}`;
}

/** Removes a field or an item, and its parents if they become empty. */
function removed(text: string, value: Node, name: string): string {
  let node = value.parent?.type === 'property' ? value.parent : value;
  for (let holder = node.parent; holder !== undefined; holder = node.parent) {
    const property = holder.parent;
    if (property?.type !== 'property' || holder.children?.length !== 1 || hasComment(text, holder, node))
      break;
    node = property;
  }
  const parent = node.parent;
  if (parent === undefined) throw unusable(name, 'it is not an object');
  const siblings = parent.children ?? [];
  const at = siblings.indexOf(node);
  const previous = siblings[at - 1];
  const { comma } = trivia(text, endOf(node));
  if (at < siblings.length - 1 && comma !== undefined) {
    const after = text.slice(comma + 1);
    const alone = /^[ \t]*\r?\n/.test(after);
    const start = alone ? blankBefore(text, node.offset) : node.offset;
    return text.slice(0, start) + (alone ? after : after.replace(/^[ \t]+/, ''));
  }
  const start = blankBefore(text, node.offset);
  const before = previous === undefined ? undefined : trivia(text, endOf(previous)).comma;
  // Removes the comma before the value, or a trailing one after it.
  const head =
    before === undefined || comma !== undefined
      ? text.slice(0, start)
      : text.slice(0, before) + text.slice(before + 1, start);
  const tail = text.slice(comma === undefined ? endOf(node) : comma + 1);
  const first = siblings.find((sibling) => sibling !== node);
  const line = `${eolOf(text)}${lineIndent(text, parent.offset)}`;
  const wasOneLine = first === undefined || !startsLine(text, first.offset);
  const joined = wasOneLine && tail.startsWith(line) && !endsInComment(text, previous, parent, start);
  return head + (joined ? tail.slice(line.length) : tail);
}

/** Returns the comma after a value, and the end of the commas and comments before the next value. */
function trivia(text: string, from: number): { readonly comma: number | undefined; readonly end: number } {
  const next = /\s*(?:(,)|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)/y;
  next.lastIndex = from;
  let comma: number | undefined;
  let end = from;
  for (let found = next.exec(text); found !== null; found = next.exec(text)) {
    if (found[1] !== undefined && comma !== undefined) break;
    end = next.lastIndex;
    if (found[1] !== undefined) comma = end - 1;
  }
  return { comma, end };
}

function hasComment(text: string, holder: Node, node: Node): boolean {
  const around = text.slice(holder.offset, node.offset) + text.slice(endOf(node), endOf(holder));
  return /\/[/*]/.test(around);
}

function endsInComment(text: string, previous: Node | undefined, parent: Node, start: number): boolean {
  return text.slice(previous === undefined ? parent.offset : endOf(previous), start).includes('//');
}

function hasFields(there: unknown, value: object): boolean {
  return isObject(there) && Object.entries(value).every(([key, item]) => isDeepStrictEqual(there[key], item));
}

/** Returns the fields of an object that `value` does not have. */
function without(there: unknown, value: object): object {
  return Object.fromEntries(Object.entries(isObject(there) ? there : {}).filter(([key]) => !(key in value)));
}

function nodeAt(text: string, path: readonly string[], name: string): Node | undefined {
  return findNodeAtLocation(treeOf(text, name), [...path]);
}

function valueAt(text: string, path: readonly string[], name: string): unknown {
  const node = nodeAt(text, path, name);
  return node === undefined ? undefined : plain(node);
}

function treeOf(text: string, name: string): Node {
  const errors: ParseError[] = [];
  const tree = unlessTooDeep(() => parseTree(text, errors, { allowTrailingComma: true }));
  const [error] = errors;
  if (tree === undefined || error !== undefined) {
    const line = text.slice(0, error?.offset ?? 0).split('\n').length;
    throw unusable(name, `line ${line} is not JSON: repair it, then run this again`);
  }
  if (tree.type !== 'object') throw wrongType(name, 'the file', 'an object');
  return tree;
}

/** The error about a file of a client that cannot be edited. */
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

function plain(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plain);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries(
    (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
      key === undefined || value === undefined ? [] : [[String(key.value), plain(value)]],
    ),
  );
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function blankBefore(text: string, offset: number): number {
  return text.slice(0, offset).trimEnd().length;
}

function startsLine(text: string, offset: number): boolean {
  return /(^|\n)[ \t]*$/.test(text.slice(0, offset));
}

function lineIndent(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Returns one step of the file's indentation. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

export function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function wrongType(name: string, path: string, type: string): ThroughlineError {
  return unusable(name, `${path} is not ${type}: repair it, then run this again`);
}
