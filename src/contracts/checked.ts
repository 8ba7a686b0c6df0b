import { z } from 'zod';
import { onceForEach } from '../shared/collections.js';
import { nearestName } from '../shared/nearest-name.js';
import { isObject, jsonOf, lengthOf } from '../shared/text.js';
import { ThroughlineError } from './errors.js';
import type { Role } from './kinds.js';
import { resultFields } from './results.js';

/** The parsed value, or a message for people with details. */
export type Checked<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly message: string; readonly details: Readonly<Record<string, unknown>> };

/** Parses a value, dropping unknown fields. Throws ThroughlineError `schema_invalid` that names each wrong field. */
export function checkedBy<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  return orThrow(check(schema, { request: value, faults: [], faulty: 0 }, (path) => path.map(String)));
}

/** Parses a request in either spelling. Throws ThroughlineError `schema_invalid` naming each wrong or unknown field. */
export function checkedRequest<Schema extends z.ZodType>(schema: Schema, request: unknown): z.output<Schema> {
  return orThrow(check(schema, named(schema, request), (path) => pathIn(request, path)));
}

/** Does the same without throwing. */
export function readRequest<Schema extends z.ZodType>(
  schema: Schema,
  request: unknown,
): Checked<z.output<Schema>> {
  return check(schema, named(schema, request), (path) => pathIn(request, path));
}

/** Parses a text of JSON that was stored; returns the first fault of another text. */
export function storedJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): { readonly ok: true; readonly value: z.output<Schema> } | { readonly ok: false; readonly reason: string } {
  const json = jsonOf(text);
  if (json === undefined) return { ok: false, reason: 'not JSON' };
  const { data, error } = schema.safeParse(json);
  const issue = error?.issues[0];
  return issue === undefined
    ? { ok: true, value: data as z.output<Schema> }
    : { ok: false, reason: `${issue.path.join('.')}: ${issue.message}` };
}

function check<Schema extends z.ZodType>(
  schema: Schema,
  { request, faults, faulty }: NamedRequest,
  pathOf: Known['pathOf'],
): Checked<z.output<Schema>> {
  const long = longListIn(schema, request);
  if (long !== undefined) {
    const { length, limit } = long;
    const path = pathOf(long.path.split('.')).join('.');
    const message = `${path}: has ${length} entries, the limit is ${limit}: send fewer, or several requests`;
    return { ok: false, message, details: { fields: [path], length, limit } };
  }
  const parsed = schema.safeParse(request);
  if (parsed.success && faulty === 0) return { ok: true, value: parsed.data };
  const issues = parsed.error?.issues ?? [];
  const fields = [...faults.map(({ path }) => path), ...issues.map(({ path }) => pathOf(path).join('.'))];
  const messages = faults.map(({ message }) => message);
  const message = explainIssues(schema, request, { messages, faulty, pathOf });
  return { ok: false, message, details: { fields } };
}

function orThrow<Output>(checked: Checked<Output>): Output {
  if (checked.ok) return checked.value;
  throw new ThroughlineError('schema_invalid', checked.message, { details: checked.details });
}

const inCamelCase = new Map<Role, z.ZodType<Readonly<Record<string, unknown>>>>();

/** Returns a program's camelCase result as it goes on the wire. Throws `schema_invalid` that names each wrong field. */
export function wireResult(role: Role, result: unknown): object {
  const schema = inCamelCase.get(role) ?? z.object(respelled(resultFields(role)));
  inCamelCase.set(role, schema);
  return respelled(checkedRequest(schema, result));
}

function respelled<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [otherSpelling(name), value]));
}

/** Maps field names to those of the schema (`max_facts` to `maxFacts`) and drops unknown ones, except keys of records. */
interface NamedRequest {
  readonly request: unknown;
  /** The first fields that are unknown or given twice, by their displayable path in the request. */
  readonly faults: readonly { readonly path: string; readonly message: string }[];
  /** Number of all faults, which the caller controls. */
  readonly faulty: number;
}

const MAX_FAULTS = 5;

const openObjects = new WeakSet<z.ZodType>();

/** Marks an object that may have the caller's own fields, which are dropped without an error. */
export function openObject<Schema extends z.ZodObject>(schema: Schema): Schema {
  openObjects.add(schema);
  return schema;
}

function named(schema: z.ZodType, request: unknown): NamedRequest {
  const faults: { path: string; message: string }[] = [];
  let faulty = 0;
  const plan = planOf(schema);
  if (plan === undefined) return { request, faults, faulty };
  const fault: Tell = (path, message) => {
    faulty += 1;
    if (faults.length < MAX_FAULTS) faults.push({ path: shownPath(path), message: message() });
  };
  const renamed = plan(request, [], fault);
  return { request: renamed, faults, faulty };
}

/** The message is made only for the first faults. */
type Tell = (path: readonly string[], message: () => string) => void;

type Plan = (value: unknown, path: readonly string[], tell: Tell) => unknown;

/** Returns `undefined` for a schema without fields. Cached: walking a schema takes longer than renaming a request. */
const planOf = onceForEach((schema: object): Plan | undefined => {
  if (schema instanceof z.ZodObject) return objectPlan(fieldsOf(schema));
  if (schema instanceof z.ZodArray) return listPlan(schema);
  if (schema instanceof z.ZodDiscriminatedUnion) return choicePlan(schema);
  const [plan, ...others] = insideOf(schema).flatMap((inner) => planOf(inner) ?? []);
  if (others.length > 0) throw new Error('objects in one place need a field that tells them apart');
  return plan;
});

function listPlan(schema: z.ZodArray): Plan | undefined {
  const item = planOf(schema.element);
  const limit = limitOf(schema) ?? Number.POSITIVE_INFINITY;
  return (
    item &&
    ((value, path, tell) =>
      // The schema refuses lists that are too long.
      Array.isArray(value) && value.length <= limit
        ? value.map((element, index) => item(element, [...path, String(index)], tell))
        : value)
  );
}

interface Fields {
  readonly known: readonly string[];
  /** Keys in both spellings. */
  readonly bySpelling: ReadonlyMap<string, { readonly name: string; readonly plan: Plan | undefined }>;
  readonly isOpen: boolean;
}

function fieldsOf(schema: z.ZodObject): Fields {
  const known = Object.keys(schema.shape);
  const fields = known.map((name) => ({ name, plan: planOf(schema.shape[name]) }));
  const spelled = fields.flatMap((field) =>
    spellingsOf(field.name).map((spelling) => [spelling, field] as const),
  );
  return { known, bySpelling: new Map(spelled), isOpen: openObjects.has(schema) };
}

/** The id of a task has three names: in tools, in prompts and in results. Each is read everywhere. */
const TASK_NAMES = ['task', 'taskId', 'task_id'];

function spellingsOf(name: string): readonly string[] {
  return TASK_NAMES.includes(name) ? TASK_NAMES : [name, otherSpelling(name)];
}

/** @param elsewhere explains a field that belongs to another kind of request */
function objectPlan(
  { known, bySpelling, isOpen }: Fields,
  elsewhere: (key: string) => string | undefined = () => undefined,
): Plan {
  return (value, path, tell) => {
    if (!isObject(value)) return value;
    const renamed: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const field = bySpelling.get(key);
      if (field === undefined) {
        const at = [...path, key];
        if (!isOpen) tell(at, () => elsewhere(key) ?? unrecognized(at, known));
        continue;
      }
      const { name, plan } = field;
      if (Object.hasOwn(renamed, name)) {
        const other = spellingsOf(name).find((alias) => alias !== key && Object.hasOwn(value, alias));
        tell([...path, key], () => twice([...path, key], [...path, other ?? name]));
      }
      renamed[name] = plan === undefined ? value[key] : plan(value[key], [...path, key], tell);
    }
    return renamed;
  };
}

function choicePlan(schema: z.ZodDiscriminatedUnion): Plan {
  const { discriminator } = schema.def;
  const options = schema.options.flatMap((option) => {
    const values = option instanceof z.ZodObject ? option._zod.propValues?.[discriminator] : undefined;
    return option instanceof z.ZodObject && values !== undefined
      ? [{ values, fields: fieldsOf(option) }]
      : [];
  });
  const kinds = options.flatMap(({ values, fields }) => {
    const kind = String([...values][0]);
    const elsewhere = (key: string) => {
      const others = options.filter((other) => other.fields.bySpelling.has(key));
      const named = others.map((other) => String([...other.values][0])).join(' or ');
      return named === ''
        ? undefined
        : `${key} is a field of ${discriminator} ${named}, not of ${kind}: leave it out`;
    };
    return [...values].map((value) => [value, objectPlan(fields, elsewhere)] as const);
  });
  const plansByValue = new Map<unknown, Plan>(kinds);
  // The schema reports an unknown kind.
  return (value, path, tell) =>
    plansByValue.get(isObject(value) ? value[discriminator] : undefined)?.(value, path, tell) ?? value;
}

function twice(path: readonly string[], other: readonly string[]): string {
  return `${shownPath(path)} and ${shownPath(other)} are the same field: give one of them`;
}

/** Converts between `maxFacts` and `max_facts`; a single word stays. */
export function otherSpelling(name: string): string {
  return name.includes('_')
    ? name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the path that `value` uses for a path of the schema. */
function pathIn(value: unknown, path: readonly PropertyKey[]): string[] {
  let at = value;
  return path.map((key) => {
    const inside = typeof at === 'object' && at !== null ? at : {};
    const name = String(key);
    const here = [name, ...spellingsOf(name)].find((spelling) => Object.hasOwn(inside, spelling)) ?? name;
    at = Object.hasOwn(inside, here) ? Reflect.get(inside, here) : undefined;
    return here;
  });
}

interface LongList {
  /** For example `payload.target_files`. */
  readonly path: string;
  readonly length: number;
  readonly limit: number;
}

/** Finds the first list longer than its schema allows, by lengths alone: a message can hold half a million items. */
export function longListIn(
  schema: unknown,
  value: unknown,
  path: readonly string[] = [],
): LongList | undefined {
  if (schema instanceof z.ZodArray) {
    const limit = limitOf(schema);
    if (!Array.isArray(value) || limit === undefined || value.length <= limit) return undefined;
    return { path: path.join('.'), length: value.length, limit };
  }
  if (schema instanceof z.ZodObject) {
    if (typeof value !== 'object' || value === null) return undefined;
    return first(listsIn(schema), ([key, field]) =>
      Object.hasOwn(value, key) ? longListIn(field, Reflect.get(value, key), [...path, key]) : undefined,
    );
  }
  return first(insideOf(schema), (inner) => longListIn(inner, value, path));
}

/** Caches the fields that may be too long: searching a schema takes longer than checking a request. */
const listsIn = onceForEach(({ shape }: z.ZodObject) =>
  Object.entries<unknown>(shape).filter(([, field]) => hasLimit(field)),
);

function hasLimit(schema: unknown): boolean {
  if (schema instanceof z.ZodArray) return limitOf(schema) !== undefined;
  if (schema instanceof z.ZodObject) return listsIn(schema).length > 0;
  return insideOf(schema).some(hasLimit);
}

export function limitOf(list: z.ZodArray): number | undefined {
  for (const check of list.def.checks ?? []) {
    if (check instanceof z.core.$ZodCheckMaxLength) return check._zod.def.maximum;
  }
  return undefined;
}

/** Returns the schemas that parse the same value as this one. */
export function insideOf(schema: unknown): readonly object[] {
  if (schema instanceof z.ZodUnion) return schema.options;
  if (schema instanceof z.ZodPipe) return [schema.in, schema.out];
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodReadonly
  ) {
    return [schema.unwrap()];
  }
  return [];
}

function first<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function cursorOf(...values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** @throws ThroughlineError `schema_invalid` for a cursor that `cursorOf` did not make of such values */
export function readCursor<const Values extends readonly [z.ZodType, ...z.ZodType[]]>(
  cursor: string,
  values: Values,
): z.output<z.ZodTuple<Values>> {
  const read = z.tuple(values).safeParse(jsonOf(Buffer.from(cursor, 'base64url')));
  if (read.success) return read.data;
  throw new ThroughlineError(
    'schema_invalid',
    'cursor: is not one of this list: send the next of the page before, or leave it out for the first page',
    { details: { fields: ['cursor'] } },
  );
}

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

/** Explains why a schema rejects a value: at most five wrong fields, by path and with the fix; empty for a valid one. */
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
  const other = value === undefined ? nameInstead(input, path, schema) : undefined;
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
function nameInstead(input: unknown, path: readonly PropertyKey[], schema: z.ZodType): string | undefined {
  const parent = valueAt(input, path.slice(0, -1));
  const field = path.at(-1);
  if (typeof parent !== 'object' || parent === null || typeof field !== 'string') return undefined;
  const known = namesAt(schema, path.slice(0, -1));
  const others = Object.keys(parent).filter((key) => !known.includes(key));
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
function shownPath(path: readonly string[]): string {
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
