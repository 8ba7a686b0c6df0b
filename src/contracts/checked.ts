import { z } from 'zod';
import { onceForEach } from '../shared/collections.js';
import { isObject } from '../shared/text.js';
import { ThroughlineError } from './errors.js';
import { explainIssues, type Known, shownPath, unrecognized } from './explain-issues.js';
import type { Role } from './kinds.js';
import { insideOf, limitOf, longListIn } from './list-limits.js';
import { resultFields } from './results.js';

/** The parsed value, or a message for people with details. */
export type Checked<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly message: string; readonly details: Readonly<Record<string, unknown>> };

/**
 * Parses a value with a schema; fields that the schema does not name are dropped.
 *
 * @throws ThroughlineError `schema_invalid` that names each wrong field
 */
export function checkedBy<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  return orThrow(check(schema, { request: value, faults: [], faulty: 0 }, (path) => path.map(String)));
}

/**
 * Parses a request with a schema. Its fields may have either spelling, `maxFacts` or `max_facts`.
 *
 * @throws ThroughlineError `schema_invalid` that names each wrong or unknown field
 */
export function checkedRequest<Schema extends z.ZodType>(schema: Schema, request: unknown): z.output<Schema> {
  return orThrow(readRequest(schema, request));
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
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { ok: false, reason: 'not JSON' };
  }
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
  return {
    ok: false,
    message: explainIssues(schema, request, { messages, faulty, pathOf }),
    details: { fields },
  };
}

function orThrow<Output>(checked: Checked<Output>): Output {
  if (checked.ok) return checked.value;
  throw new ThroughlineError('schema_invalid', checked.message, { details: checked.details });
}

const inCamelCase = new Map<Role, z.ZodType<Readonly<Record<string, unknown>>>>();

/**
 * Returns a result of a program, whose fields are in camelCase, as it goes on the wire.
 *
 * @throws ThroughlineError `schema_invalid` that names each wrong or unknown field
 */
export function wireResult(role: Role, result: unknown): object {
  const schema = inCamelCase.get(role) ?? z.object(respelled(resultFields(role)));
  inCamelCase.set(role, schema);
  return respelled(checkedRequest(schema, result));
}

function respelled<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [otherSpelling(name), value]));
}

/**
 * Maps field names to those of the schema, `max_facts` to `maxFacts` and `intentId` to `intent_id`, and drops unknown
 * ones. Keys of records, and values that the schema does not look into, are unchanged.
 */
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
export function pathIn(value: unknown, path: readonly PropertyKey[]): string[] {
  let at = value;
  return path.map((key) => {
    const inside = typeof at === 'object' && at !== null ? at : {};
    const name = String(key);
    const here = [name, ...spellingsOf(name)].find((spelling) => Object.hasOwn(inside, spelling)) ?? name;
    at = Object.hasOwn(inside, here) ? Reflect.get(inside, here) : undefined;
    return here;
  });
}
