import { isObject } from '../../shared/text.js';
import { explainIssues } from '../explain-issues.js';
import { kindOf, ROLES, type Role, verdictsOf } from '../kinds.js';
import { namedOnce, RESULTS, taskId } from '../results.js';
import {
  type Clear,
  elsewhere,
  otherRole,
  readTask,
  readVerdict,
  resultOfOther,
  verdictOfOther,
} from './clear-fields.js';
import { kept, MAX_ITEMS, readFields } from './field-values.js';
import { THIS_TASK } from './repair-rules.js';
import { Repairs, WHOLE } from './repairs.js';
import { firstKeys, isEmpty, type Json, keysFor, type ResultShape, resultShape } from './shape.js';

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
  // A note may have no task; its intent is used instead.
  const intent = kindOf(role).part === 'note' ? taskId.safeParse(body.intent_id).data : undefined;
  const task = named.value === undefined && intent !== undefined ? { ...named, value: intent } : named;
  const verdict = readVerdict(body, shape);
  const known = typeof task.value === 'string' ? { task: task.value } : {};
  const other = task.contradiction === undefined ? resultOfOther(body, role) : undefined;
  if (other !== undefined) return { ok: false, ...elsewhere(other), ...known };
  const contradiction = task.contradiction ?? verdict.contradiction;
  if (contradiction !== undefined) return { ok: false, ...contradiction, ...known };
  if (task.value === undefined || verdict.value === undefined)
    return { ok: false, ...whatIsMissing(body, shape, { task, verdict }), ...known };
  const misplaced = kindOf(role).part === 'note' ? verdictOfOther(body, role) : undefined;
  if (misplaced !== undefined) return { ok: false, ...elsewhere(misplaced), ...known };
  repairs.take(task.repairs);
  repairs.take(verdict.repairs);
  const value: Record<string, unknown> = { task_id: task.value };
  if (shape.verdictField !== undefined) value[shape.verdictField] = verdict.value;
  readFields(body, shape, '', value, repairs);
  if (hasItems(value.files_changed) && value.files_modified !== undefined) {
    repairs.note('joined', 'files_modified', 'with files_changed');
    const { files_modified: files } = namedOnce(value);
    value.files_modified = Array.isArray(files)
      ? kept(files, MAX_ITEMS, 'files_modified', repairs)
      : undefined;
    delete value.files_changed;
  }
  for (const key of firstKeys(body)) {
    const field = isEmpty(body[key]) ? undefined : shape.foreign(key);
    if (field !== undefined) repairs.note('skipped', field, `the ${role} has no such field`);
  }
  if (Array.isArray(value.facts))
    value.facts = value.facts.map((fact: Json) =>
      fact.subject === THIS_TASK ? { ...fact, subject: `${THIS_TASK}${task.value}` } : fact,
    );
  if (saysNothing(value, role)) return { ok: false, ...SAYS_NOTHING, ...known };
  return { ok: true, task: task.value, value, repairs };
}

/** True for a note without summary and facts. */
export function saysNothing({ summary, facts }: Json, role: Role): boolean {
  return kindOf(role).part === 'note' && isEmpty(summary) && !hasItems(facts);
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
  const other = verdict.value === undefined ? otherRole(body, role) : undefined;
  if (other !== undefined) return elsewhere(other);
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

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** Limit of objects nested around a result. */
const MAX_WRAPPERS = 3;

/** Unwraps the result from an object around it, or a list of one. */
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

/** Finds the inner object with the task or verdict that the outer one lacks. */
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
    // Two candidates are ambiguous.
    if (found !== undefined) return undefined;
    found = { key, object };
  }
  if (found === undefined) return undefined;
  const { [found.key]: _, ...rest } = json;
  return { ...rest, ...found.object };
}

/** True for the name of a list in any kind of result: its items are not results. */
function isList(name: string): boolean {
  return ROLES.some((role) => {
    const { meant, fields } = resultShape(role);
    const field = meant(name)?.field;
    return field !== undefined && fields.get(field)?.shape.wants === 'list';
  });
}

/** True if a list item names its task or verdict as results do. */
function isResult(item: Json, shape: ResultShape): boolean {
  return ['task_id', shape.verdictField].some(
    (field) => field !== undefined && keysFor(field, item, shape).some(({ rank }) => rank <= 1),
  );
}

/** True if an inner object has what the outer one lacks, for the same task. */
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

function isWrapped(json: Json, shape: ResultShape): boolean {
  return firstKeys(json).some((key) => {
    const each = json[key];
    return isObject(each) && (readTask(each, shape).sure || Object.values(each).some(isObject));
  });
}
