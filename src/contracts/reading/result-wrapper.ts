import { isObject } from '../../shared/is-object.js';
import { ROLES } from '../kinds.js';
import { type Clear, readTask, readVerdict } from './clear-fields.js';
import { resultOfOther } from './misplaced-result.js';
import { firstKeys, keysFor } from './object-keys.js';
import { type Repairs, WHOLE } from './repairs.js';
import { type Json, type ResultShape, resultShape } from './shape.js';

/** Most objects that a result is looked for in, one within the other. */
const MAX_WRAPPERS = 3;

/** The result in an object around it, or in a list of one. */
export function unwrapped(json: unknown, shape: ResultShape, repairs: Repairs): unknown {
  let value = json;
  for (let depth = 0; depth < MAX_WRAPPERS; depth += 1) {
    const inner =
      Array.isArray(value) && value.length === 1
        ? value[0]
        : isObject(value)
          ? inside(value, shape)
          : undefined;
    if (!isObject(inner)) return value;
    repairs.note('unwrapped', WHOLE);
    value = inner;
  }
  return value;
}

/** The object that holds what its surroundings lack: task and verdict, or one of them. */
function inside(json: Json, shape: ResultShape): Json | undefined {
  const task = readTask(json, shape);
  const verdict = readVerdict(json, shape);
  if (task.contradiction ?? verdict.contradiction) return undefined;
  if (task.value !== undefined && verdict.value !== undefined) return undefined;
  if (task.value !== undefined && resultOfOther(json, shape.role) !== undefined) return undefined;
  let found: { key: string; object: Json } | undefined;
  for (const key of firstKeys(json)) {
    if (key === '__proto__') continue;
    const each = json[key];
    const object: unknown = Array.isArray(each) && each.length === 1 ? each[0] : each;
    if (!isObject(object) || !completes({ task, verdict }, object, shape)) continue;
    if (isList(key) || (object !== each && !isResult(object, shape))) continue;
    // Of two, none is it.
    if (found !== undefined) return undefined;
    found = { key, object };
  }
  if (found === undefined) return undefined;
  const { [found.key]: _, ...rest } = json;
  return { ...rest, ...found.object };
}

/** Whether a name is that of a list in results of any kind: its items are not results. */
function isList(name: string): boolean {
  return ROLES.some((role) => {
    const { meant, fields } = resultShape(role);
    const field = meant(name)?.field;
    return field !== undefined && fields.get(field)?.shape.wants === 'list';
  });
}

/** Whether the item of a list names its task or its verdict as results do: many things are done or have passed. */
function isResult(item: Json, shape: ResultShape): boolean {
  return ['task_id', shape.verdictField].some(
    (field) => field !== undefined && keysFor(field, item, shape).some(({ rank }) => rank <= 1),
  );
}

/** Whether an object inside a result has what the result itself lacks, and is about the same task. */
function completes(outer: { task: Clear; verdict: Clear }, object: Json, shape: ResultShape): boolean {
  const task = readTask(object, shape);
  const verdict = readVerdict(object, shape);
  if (outer.task.value !== undefined)
    return verdict.value !== undefined && (task.value === undefined || task.value === outer.task.value);
  if (outer.verdict.value !== undefined || shape.verdictField === undefined) return task.sure === true;
  return (
    (task.value !== undefined && verdict.value !== undefined) ||
    task.sure === true ||
    isWrapped(object, shape)
  );
}

/** Whether a result stands further inside. */
function isWrapped(json: Json, shape: ResultShape): boolean {
  return firstKeys(json).some((key) => {
    const each = json[key];
    return isObject(each) && (readTask(each, shape).sure || Object.values(each).some(isObject));
  });
}
