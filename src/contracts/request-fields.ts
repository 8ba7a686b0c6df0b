import { z } from 'zod';
import { isObject } from '../shared/is-object.js';
import { shown, shownPath, unrecognized } from './explain-issues.js';
import { insideOf, limitOf } from './list-limits.js';
import { otherSpelling } from './spelling.js';

/**
 * The fields of a request by the names that its schema has for them: `max_facts` becomes `maxFacts`, and `intentId` becomes
 * `intent_id`. Only names of fields change: the keys of a record, and what a schema does not look into, stay as they are.
 */

/** A request by the names of its schema, without what no one knows. */
export interface NamedRequest {
  readonly request: unknown;
  /** The first fields that no one knows, or that come twice: each by its path in the request, fit to be shown. */
  readonly faults: readonly { readonly path: string; readonly message: string }[];
  /** How many there are: the caller decides that. */
  readonly faulty: number;
}

/** Most faults that are told one by one. */
const MAX_FAULTS = 5;

const openObjects = new WeakSet<z.ZodType>();

/** An object of a request that may hold fields of the caller's own: they are left out, and no mistake. */
export function openObject<Schema extends z.ZodObject>(schema: Schema): Schema {
  openObjects.add(schema);
  return schema;
}

export function named(schema: z.ZodType, request: unknown): NamedRequest {
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

/** Takes a fault; its message is made for the first ones alone. */
type Tell = (path: readonly string[], message: () => string) => void;

/** What there is to do for one schema. */
type Plan = (value: unknown, path: readonly string[], tell: Tell) => unknown;

/** To look through a schema takes longer than to name a request. */
const plans = new WeakMap<z.ZodType, Plan | 'nothing'>();

/** `undefined` for a schema without fields. */
function planOf(schema: unknown): Plan | undefined {
  if (!(schema instanceof z.ZodType)) return undefined;
  const known = plans.get(schema) ?? newPlan(schema) ?? 'nothing';
  plans.set(schema, known);
  return known === 'nothing' ? undefined : known;
}

function newPlan(schema: z.ZodType): Plan | undefined {
  if (schema instanceof z.ZodObject) return objectPlan(fieldsOf(schema));
  if (schema instanceof z.ZodArray) return listPlan(schema);
  if (schema instanceof z.ZodDiscriminatedUnion) return choicePlan(schema);
  const [plan, ...others] = insideOf(schema).flatMap((inner) => planOf(inner) ?? []);
  if (others.length > 0) throw new Error('objects in one place need a field that tells them apart');
  return plan;
}

function listPlan(schema: z.ZodArray): Plan | undefined {
  const item = planOf(schema.element);
  const limit = limitOf(schema) ?? Number.POSITIVE_INFINITY;
  return (
    item &&
    ((value, path, tell) =>
      // One that is too long is refused for its length.
      Array.isArray(value) && value.length <= limit
        ? value.map((each, index) => item(each, [...path, String(index)], tell))
        : value)
  );
}

interface Fields {
  readonly known: readonly string[];
  /** By both spellings. */
  readonly bySpelling: ReadonlyMap<string, { readonly name: string; readonly plan: Plan | undefined }>;
  readonly isOpen: boolean;
}

function fieldsOf(schema: z.ZodObject): Fields {
  const known = Object.keys(schema.shape);
  const fields = known.map((name) => ({ name, plan: planOf(schema.shape[name]) }));
  const spelled = fields.flatMap((field) => [
    [field.name, field] as const,
    [otherSpelling(field.name), field] as const,
  ]);
  return { known, bySpelling: new Map(spelled), isOpen: openObjects.has(schema) };
}

/** @param elsewhere says that a field that is not known here is known in another kind of request */
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
      const given = plan === undefined ? value[key] : plan(value[key], [...path, key], tell);
      const before = Object.hasOwn(renamed, name) ? renamed[name] : given;
      renamed[name] = before;
      if (!isSame(before, given)) tell([...path, key], () => twice([...path, key], before, given));
    }
    return renamed;
  };
}

/** One of several objects, told apart by the value of one field. */
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
  // Without a plan the schema says what is wrong with the kind.
  return (value, path, tell) =>
    plansByValue.get(isObject(value) ? value[discriminator] : undefined)?.(value, path, tell) ?? value;
}

function twice(path: readonly string[], before: unknown, given: unknown): string {
  const other = [...path.slice(0, -1), otherSpelling(path.at(-1) ?? '')];
  return `${shownPath(path)} is ${shown(given)} and ${shownPath(other)} is ${shown(before)}, but both are the same field: give one of them`;
}

/** Deeper than this, values count as different. */
const MAX_DEPTH = 20;

/** Whether two values from JSON are the same. */
function isSame(one: unknown, other: unknown, depth = 0): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other) || depth > MAX_DEPTH) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every(
      (key) => Object.hasOwn(other, key) && isSame(Reflect.get(one, key), Reflect.get(other, key), depth + 1),
    )
  );
}
