import { z } from 'zod';
import { nearestName } from '../shared/nearest-name.js';
import { lengthOf } from '../shared/text.js';
import { insideOf } from './list-limits.js';

type Issue = z.core.$ZodIssue;

/** Limit of wrong fields that one sentence names. */
const MAX_NAMED = 5;
/** Limit of fields compared with a missing one, since the caller decides how many it sends. */
const MAX_COMPARED = 100;

/** Faults found before the schema looks at the value. */
export interface Known {
  /** The first messages. */
  readonly messages: readonly string[];
  /** Number of all faults. */
  readonly faulty: number;
  /** Maps a path of the schema to the path that the caller sent. */
  readonly pathOf: (path: readonly PropertyKey[]) => readonly string[];
}

const NOTHING: Known = { messages: [], faulty: 0, pathOf: (path) => path.map(String) };

/**
 * Explains in one sentence why a schema rejects a value: each wrong field by its path, with the value found and what to
 * use. Names at most five; empty for a valid value.
 */
export function explainIssues(schema: z.ZodType, input: unknown, known = NOTHING): string {
  // Keeps the schema's own messages and drops the library's.
  const { error } = schema.safeParse(input, { error: () => '' });
  const issues = error?.issues ?? [];
  const explain = (issue: Issue) => explained(issue, issue.path, { input, schema, pathOf: known.pathOf });
  const named = [...known.messages, ...issues.slice(0, MAX_NAMED - known.messages.length).map(explain)];
  const more = known.faulty + issues.length - named.length;
  return more > 0 ? `${named.join('; ')}; and ${more} more` : named.join('; ');
}

interface Refused extends Pick<Known, 'pathOf'> {
  readonly input: unknown;
  readonly schema: z.ZodType;
}

function explained(issue: Issue, path: readonly PropertyKey[], refused: Refused): string {
  const { input, schema, pathOf } = refused;
  const name = pathOf(path).join('.') || 'the body';
  const value = valueAt(input, path);
  const other = value === undefined ? nameInstead(input, path) : undefined;
  const is = value === undefined ? 'missing' : shown(value);
  const wrong = (use: string) =>
    other === undefined ? `${name} is ${is}: use ${use}` : `${name} is missing (found ${other})`;
  switch (issue.code) {
    case 'invalid_type':
      if (value === undefined && other === undefined) return `${name} is missing`;
      if (value !== undefined && issue.message !== '') return `${name}: ${issue.message}${got(value)}`;
      return wrong(TYPES[issue.expected] ?? issue.expected);
    case 'invalid_value':
      return wrong(oneOf(issue.values));
    case 'invalid_union': {
      if (issue.errors.length === 0)
        return wrong(
          oneOf('options' in issue ? (issue.options ?? []).filter((option) => option !== undefined) : []),
        );
      // A branch that fails at a part of the value says more than one that fails at its type.
      const branches = issue.errors.flatMap(([first]) => (first === undefined ? [] : [first]));
      const fitting = branches.find((branch) => branch.code !== 'invalid_type' || branch.path.length > 0);
      if (fitting !== undefined) return explained(fitting, [...path, ...fitting.path], refused);
      const types = branches.map((branch) => (branch.code === 'invalid_type' ? TYPES[branch.expected] : ''));
      return wrong([...new Set(types)].join(' or '));
    }
    case 'unrecognized_keys': {
      const known = namesAt(schema, path);
      const at = pathOf(path);
      const unknown = issue.keys.slice(0, MAX_NAMED).map((key) => unrecognized([...at, key], known));
      return unknown.join('; ');
    }
    default:
      return `${name}: ${issue.message || 'is not allowed'}${got(value)}`;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

/** Finds `taskId` under a similar name. */
function nameInstead(input: unknown, path: readonly PropertyKey[]): string | undefined {
  const parent = valueAt(input, path.slice(0, -1));
  const field = path.at(-1);
  if (typeof parent !== 'object' || parent === null || typeof field !== 'string') return undefined;
  const others = Object.keys(parent).filter((key) => key !== field);
  return others.length > MAX_COMPARED ? undefined : nearestName(field, others);
}

function namesAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodObject) {
    const [key, ...rest] = path;
    return key === undefined ? Object.keys(schema.shape) : namesAt(schema.shape[String(key)], rest);
  }
  if (schema instanceof z.ZodRecord && path.length === 0 && schema.keyType instanceof z.ZodEnum)
    return schema.keyType.options.map(String);
  return insideOf(schema).flatMap((inner) => namesAt(inner, path));
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

export function unrecognized(path: readonly string[], known: readonly string[]): string {
  const meant = nearestName(path.at(-1) ?? '', known);
  return `${shownPath(path)} is not a recognized field${meant === undefined ? '' : `: did you mean ${meant}?`}`;
}

const PLAIN_NAME = /^[\w-]{1,64}$/;

/** Quotes the last name only if it is short, as `shown` does for values. */
export function shownPath(path: readonly string[]): string {
  const names = path.map((name) => {
    if (PLAIN_NAME.test(name)) return name;
    return name.length <= MAX_QUOTED ? JSON.stringify(name) : `(a name of ${lengthOf(name)} characters)`;
  });
  return names.join('.');
}

const MAX_QUOTED = 40;

/** Quotes a value whole or not at all: the redactor would not recognize half a secret. */
export function shown(value: unknown): string {
  if (typeof value === 'string')
    return value.length <= MAX_QUOTED ? JSON.stringify(value) : `text of ${lengthOf(value)} characters`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return String(value);
}

function got(value: unknown): string {
  if (typeof value === 'string' && value.length > MAX_QUOTED) return ` (got ${lengthOf(value)} characters)`;
  return value === undefined || (typeof value === 'object' && value !== null) ? '' : ` (got ${shown(value)})`;
}
