import { isObject } from '../../shared/text.js';
import { explainIssues } from '../explain-issues.js';
import { kindOf, type Role, verdictsOf } from '../kinds.js';
import { RESULTS, taskId } from '../results.js';
import { type Clear, elsewhere, readTask, readVerdict, resultOfOther } from './clear-fields.js';
import { readFields } from './field-values.js';
import { Repairs, WHOLE } from './repairs.js';
import {
  firstKeys,
  isEmpty,
  type Json,
  keysFor,
  type ResultShape,
  resultShape,
  saysNothing,
} from './shape.js';

/**
 * Reads a result, repairing fields by the rules of `repair-rules.ts`, skipping what stays invalid, and noting each
 * change. Only the task and the verdict are required, and both must be unambiguous.
 */
type Reading =
  | { readonly ok: true; readonly task: string; readonly value: unknown; readonly repairs: Repairs }
  | ({ readonly ok: false } & Unreadable);

export interface Unreadable {
  readonly reason: string;
  /** One sentence. */
  readonly fix: string;
  readonly task?: string;
  /** The role whose result it seems to be, if another. */
  readonly meant?: Role;
}

export function readResult(json: unknown, role: Role): Reading {
  const repairs = new Repairs();
  const shape = resultShape(role);
  const body = unwrapped(json, shape, repairs);
  if (!isObject(body)) {
    const reason = explainIssues(RESULTS[role], body);
    return { ok: false, reason, fix: 'send one JSON object with the fields of a result' };
  }
  const named = readTask(body, shape);
  const isNote = kindOf(role).part === 'note';
  // A note may have no task; its intent is used instead.
  const intent = isNote ? taskId.safeParse(body.intent_id).data : undefined;
  const task = named.value === undefined && intent !== undefined ? { ...named, value: intent } : named;
  const verdict = readVerdict(body, shape);
  const known = task.value === undefined ? {} : { task: task.value };
  const other = task.contradiction === undefined ? resultOfOther(body, role) : undefined;
  if (other !== undefined) return { ok: false, ...elsewhere(other), ...known };
  const contradiction = task.contradiction ?? verdict.contradiction;
  if (contradiction !== undefined) return { ok: false, ...contradiction, ...known };
  if (task.value === undefined || verdict.value === undefined)
    return { ok: false, ...whatIsMissing(body, shape, { task, verdict }), ...known };
  repairs.take(task.repairs);
  repairs.take(verdict.repairs);
  const { verdictField } = shape;
  const clear = { task_id: task.value, ...(verdictField !== undefined && { [verdictField]: verdict.value }) };
  const value = readFields(body, shape, clear, repairs);
  for (const key of firstKeys(body)) {
    const field = isEmpty(body[key]) ? undefined : shape.foreign(key);
    if (field !== undefined) repairs.note('skipped', field, `the ${role} has no such field`);
  }
  if (saysNothing(value, role)) return { ok: false, ...SAYS_NOTHING, ...known };
  return { ok: true, task: task.value, value, repairs };
}

const SAYS_NOTHING = {
  reason: 'it says nothing that can be read: it has neither a summary nor a fact',
  fix: 'give a summary, or facts [{subject, relation, object}]',
};

function whatIsMissing(
  body: Json,
  { role, verdictField, fields }: ResultShape,
  { task, verdict }: { task: Clear; verdict: Clear },
) {
  const needed: Record<string, unknown> = {};
  const fixes: string[] = [];
  if (task.value === undefined) fixes.push('give the id of its task as task_id');
  else needed.task_id = task.value;
  if (verdictField !== undefined) {
    if (verdict.value !== undefined) needed[verdictField] = verdict.value;
    else fixes.push(`set ${verdictField} to one of ${verdictsOf(role).join(', ')}`);
  }
  // Reports only fields that were not read.
  const rest: Record<string, unknown> = Object.create(null);
  for (const key of firstKeys(body))
    if (!fields.has(key) || key === 'task_id' || key === verdictField) rest[key] = body[key];
  const reason = explainIssues(RESULTS[role], { ...rest, ...needed });
  return { reason, fix: fixes.join(', and ') };
}

/** Limit of objects nested around a result. */
const MAX_WRAPPERS = 3;

/** Unwraps the result from a list of one, or from the only object in a wrapper that holds what the wrapper lacks. */
function unwrapped(json: unknown, shape: ResultShape, repairs: Repairs): unknown {
  let value = json;
  for (let depth = 0; depth < MAX_WRAPPERS; depth += 1) {
    const inner = Array.isArray(value) && value.length === 1 ? value[0] : inside(value, shape);
    if (!isObject(inner)) return value;
    repairs.note('unwrapped', WHOLE);
    value = inner;
  }
  return value;
}

function inside(json: unknown, shape: ResultShape): Json | undefined {
  if (!isObject(json) || resultOfOther(json, shape.role) !== undefined) return undefined;
  const task = readTask(json, shape);
  const verdict = readVerdict(json, shape);
  if (task.contradiction ?? verdict.contradiction) return undefined;
  if (task.value !== undefined && verdict.value !== undefined) return undefined;
  const [key, ...others] = firstKeys(json).filter((name) => completes(json[name], name, task.value, shape));
  const inner = key === undefined ? undefined : json[key];
  // Two candidates are ambiguous.
  if (key === undefined || others.length > 0 || !isObject(inner)) return undefined;
  const { [key]: _, ...rest } = json;
  return { ...rest, ...inner };
}

/** True for an object with the missing task under its own name, or the missing verdict; the item of a list is neither. */
function completes(inner: unknown, key: string, task: string | undefined, shape: ResultShape): boolean {
  const isList = shape.fields.get(shape.meant(key)?.field ?? '')?.shape.wants === 'list';
  if (!isObject(inner) || isList || shape.foreign(key) !== undefined || key === '__proto__') return false;
  const isTask = keysFor('task_id', inner, shape).some(({ rank }) => rank <= 1);
  if (task === undefined)
    return isTask || Object.values(inner).some((value) => isObject(value) && !isEmpty(value.task_id));
  const innerTask = readTask(inner, shape).value;
  return readVerdict(inner, shape).value !== undefined && (innerTask === undefined || innerTask === task);
}
