import { isObject } from '../../shared/is-object.js';
import { type Clear, readTask, readVerdict } from './clear-fields.js';
import { firstKeys } from './object-keys.js';
import { type Repairs, WHOLE } from './repairs.js';
import type { Json, ResultShape } from './shape.js';

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
  let found: { key: string; object: Json } | undefined;
  for (const key of firstKeys(json)) {
    const meant = shape.meant(key);
    if (key === '__proto__') continue;
    const each = json[key];
    if (meant !== undefined && shape.fields.get(meant.field)?.shape.wants === 'list') continue;
    const object: unknown = Array.isArray(each) && each.length === 1 ? each[0] : each;
    if (!isObject(object) || !completes({ task, verdict }, object, shape)) continue;
    // Of two, none is it.
    if (found !== undefined) return undefined;
    found = { key, object };
  }
  if (found === undefined) return undefined;
  const { [found.key]: _, ...rest } = json;
  return { ...rest, ...found.object };
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
