import { z } from 'zod';
import { nearestName } from '../shared/nearest-name.js';
import { lengthOf } from '../shared/text.js';
import { insideOf } from './list-limits.js';

type Issue = z.core.$ZodIssue;

/** Most wrong fields that one sentence names. */
const MAX_NAMED = 5;
/** Most fields of one object that are compared with a missing one: the caller decides how many it sends. */
const MAX_COMPARED = 100;

/** What is known of a value before its schema looks at it. */
export interface Known {
  /** The first faults of its own, each as a message. */
  readonly told: readonly string[];
  /** How many there are. */
  readonly faulty: number;
  /** Where the value came with another name than the schema has for it. */
  readonly pathOf: (path: readonly PropertyKey[]) => readonly string[];
}

const NOTHING: Known = { told: [], faulty: 0, pathOf: (path) => path.map(String) };

/**
 * What keeps a schema from taking a value, as one sentence: each wrong field by its path, with what was found and what to
 * use. At most five are named; empty for a value that it takes.
 */
export function explainIssues(schema: z.ZodType, input: unknown, known = NOTHING): string {
  // What the schema itself says of a field stands; the library's own words do not.
  const { error } = schema.safeParse(input, { error: () => '' });
  const issues = error?.issues ?? [];
  const explain = (issue: Issue) => explained(issue, issue.path, { input, schema, pathOf: known.pathOf });
  const named = [...known.told, ...issues.slice(0, MAX_NAMED - known.told.length).map(explain)];
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
          oneOf('options' in issue ? (issue.options ?? []).filter((each) => each !== undefined) : []),
        );
      // What the alternatives say of the value itself tells less than what one of them says of a part of it.
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

/** `taskId`, where the field may stand under another name. */
function nameInstead(input: unknown, path: readonly PropertyKey[]): string | undefined {
  const parent = valueAt(input, path.slice(0, -1));
  const field = path.at(-1);
  if (typeof parent !== 'object' || parent === null || typeof field !== 'string') return undefined;
  const others = Object.keys(parent).filter((key) => key !== field);
  return others.length > MAX_COMPARED ? undefined : nearestName(field, others);
}

/** The names that an object at this path may have. */
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

/** What is said of a field that no one knows: its path, and the known name that it resembles. */
export function unrecognized(path: readonly string[], known: readonly string[]): string {
  const meant = nearestName(path.at(-1) ?? '', known);
  return `${shownPath(path)} is not a recognized field${meant === undefined ? '' : `: did you mean ${meant}?`}`;
}

const PLAIN_NAME = /^[\w-]{1,64}$/;

/** A path whose last name may be anything: a long one is told by its length, as a long value is. */
export function shownPath(path: readonly string[]): string {
  const names = path.map((name) => {
    if (PLAIN_NAME.test(name)) return name;
    return name.length <= MAX_QUOTED ? JSON.stringify(name) : `(a name of ${lengthOf(name)} characters)`;
  });
  return names.join('.');
}

/** Longest value that is quoted, in characters. */
const MAX_QUOTED = 40;

/** Whole or not at all: half a secret would be known by no rule, and quoted. */
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
