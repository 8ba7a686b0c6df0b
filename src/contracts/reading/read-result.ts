import { isObject, oneLine } from '../../shared/text.js';
import { explainIssues, shown } from '../checked.js';
import { kindOf, ROLES, type Role, type Verdict, verdictsOf } from '../kinds.js';
import { RESULTS, taskId } from '../results.js';
import { readFields, readText } from './field-values.js';
import { asBoolean } from './repair-rules.js';
import { LINES_LEFT_OUT, Repairs, WHOLE } from './repairs.js';
import {
  firstKeys,
  isEmpty,
  type Json,
  keysFor,
  type ObjectShape,
  type ResultShape,
  resultShape,
  saysNothing,
} from './shape.js';
import { MAX_NAME, meantBy, OPPOSITES, plainName, VERDICT_WORDS } from './synonyms.js';

/** Reads a result: repairs fields, skips what stays invalid, and notes each change. Task and verdict must be unambiguous. */
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
    return { ok: false, ...whatIsMissing(body, shape, task, verdict), ...known };
  repairs.take(task.repairs);
  repairs.take(verdict.repairs);
  const { verdictField } = shape;
  const clear = { task_id: task.value, ...(verdictField !== undefined && { [verdictField]: verdict.value }) };
  const value = readFields(body, shape, clear, repairs);
  for (const key of firstKeys(body)) {
    if (isEmpty(body[key])) continue;
    if (key === LINES_LEFT_OUT) repairs.note('lines', WHOLE, shown(body[key]));
    const field = shape.foreign(key);
    if (field !== undefined) repairs.note('skipped', field, `the ${role} has no such field`);
    // Flags, numbers and objects are what programs add, such as costs: no agent's words are lost.
    else if ((typeof body[key] === 'string' || Array.isArray(body[key])) && shape.meant(key) === undefined)
      repairs.note('skipped', nameOf(key), NO_FIELD);
  }
  if (saysNothing(value, role)) return { ok: false, ...SAYS_NOTHING, ...known };
  return { ok: true, task: task.value, value, repairs };
}

/** Where to put what no field is for. */
const NO_FIELD = 'no such field: use facts [{subject, relation, object}]';

function nameOf(key: string): string {
  return key.length <= MAX_NAME ? oneLine(key) : `a field with a name of ${key.length} characters`;
}

const SAYS_NOTHING = {
  reason: 'it says nothing that can be read: it has neither a summary nor a fact',
  fix: 'give a summary, or facts [{subject, relation, object}]',
};

function whatIsMissing(body: Json, { role, verdictField, fields }: ResultShape, task: Clear, verdict: Clear) {
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

/** The value of a task or verdict field, which must be unambiguous. */
interface Clear {
  readonly value: string | undefined;
  readonly contradiction?: { readonly reason: string; readonly fix: string };
  readonly repairs: Repairs;
}

/** Takes the field's own name, or the surest other one: names such as `id` count only if they hold an id. */
function readTask(body: Json, shape: ObjectShape): Clear {
  const repairs = new Repairs();
  let found: { key: string; value: string } | undefined;
  for (const { key, rank } of keysFor('task_id', body, shape)) {
    if (found !== undefined && rank > 1) break;
    const keyRepairs = new Repairs();
    const at = { field: 'task_id', path: 'task_id', repairs: keyRepairs };
    const value = readText(body[key], taskId, at)?.trim();
    if (value === undefined || (rank > 1 && !/^\S{1,64}$/.test(value))) continue;
    if (found !== undefined && found.value !== value)
      return { value: undefined, contradiction: twice(found.key, found.value, key, value), repairs };
    if (found !== undefined) continue;
    found = { key, value };
    if (key !== 'task_id') repairs.note('renamed', 'task_id', `found ${key}`);
    repairs.take(keyRepairs);
  }
  return { value: found?.value, repairs };
}

function twice(one: string, first: unknown, other: string, second: unknown) {
  return {
    reason: `${one} is ${shown(first)} and ${other} is ${shown(second)}: which of them holds is not clear`,
    fix: `keep one of ${one} and ${other}`,
  };
}

/** One key's claim about the verdict: the verdicts that it allows, the likeliest first. */
interface Claim {
  readonly key: string;
  readonly allows: readonly Verdict[];
}

function readVerdict(body: Json, shape: ResultShape): Clear {
  const { verdictField: field } = shape;
  const repairs = new Repairs();
  if (field === undefined) return { value: '', repairs };
  const claims = claimsOf(body, shape);
  // A word decides, a flag such as `approved: false` only excludes.
  const found = claims.find(({ allows }) => allows.length === 1) ?? claims[0];
  const value = found?.allows[0];
  if (found === undefined || value === undefined) return { value: undefined, repairs };
  const other = claims.find(({ allows }) => !allows.includes(value));
  if (other !== undefined) {
    const contradiction = twice(found.key, body[found.key], other.key, body[other.key]);
    return { value: undefined, contradiction, repairs };
  }
  const isNamed = shape.meant(found.key)?.field === field;
  if (isNamed && found.key !== field) repairs.note('renamed', field, `found ${found.key}`);
  if (!isNamed) repairs.note('verdict', field, `${found.key} as ${value}`);
  else if (value !== body[found.key]) repairs.note('verdict', field, `${shown(body[found.key])} as ${value}`);
  return { value, repairs };
}

/** Returns the claims of the verdict field, of its other names, and of flags such as `approved: true`; the surest first. */
function claimsOf(body: Json, shape: ResultShape): Claim[] {
  const values = verdictsOf(shape.role);
  const named = shape.verdictField === undefined ? [] : keysFor(shape.verdictField, body, shape);
  const positive = values.find((allowed) => OPPOSITES[allowed]);
  const claims = named.map(({ key }) => {
    const given = body[key];
    const stated: unknown = Array.isArray(given) && given.length === 1 ? given[0] : given;
    if (typeof stated === 'boolean') return claimOfFlag(key, positive, stated, values);
    const verdict = typeof stated === 'string' ? meantBy(stated, values, VERDICT_WORDS) : undefined;
    return { key, allows: verdict === undefined ? [] : [verdict] };
  });
  for (const key of firstKeys(body)) {
    const flag = asBoolean(body[key]);
    if (flag === undefined || shape.meant(key)?.field === shape.verdictField) continue;
    claims.push(claimOfFlag(key, meantBy(key, values, VERDICT_WORDS), flag, values));
  }
  return claims.filter(({ allows }) => allows.length > 0);
}

/** `approved: false` allows every other verdict, the opposite first. */
function claimOfFlag(key: string, named: Verdict | undefined, flag: boolean, values: readonly Verdict[]) {
  const opposite = named && OPPOSITES[named];
  if (named === undefined || (!flag && opposite === undefined)) return { key, allows: [] };
  const others = values.filter((value) => value !== named && value !== opposite);
  return { key, allows: flag ? [named] : [...(opposite === undefined ? [] : [opposite]), ...others] };
}

/** Returns the role whose result the body really is: all claims are of that role, and no field is only `role`'s. */
function resultOfOther(body: Json, role: Role): Role | undefined {
  const shape = resultShape(role);
  const keys = firstKeys(body);
  const { verdictField = '' } = shape;
  if (keys.some((key) => plainName(key) === plainName(verdictField) && !isEmpty(body[key]))) return undefined;
  const claimed = claimsOf(body, shape);
  return ROLES.find((other) => {
    const theirs = resultShape(other);
    if (other === role || hasFieldOf(body, shape, theirs)) return false;
    const claimedKeys = new Set(claimsOf(body, theirs).map(({ key }) => key));
    if (claimedKeys.size === 0 || !claimed.every(({ key }) => claimedKeys.has(key))) return false;
    // "passed" may end work and a review: only a word of theirs alone, or their very verdict, is theirs.
    const named = keys.find((key) => plainName(key) === theirs.verdictField && claimedKeys.has(key));
    return (
      hasFieldOf(body, theirs, shape) ||
      (named !== undefined &&
        (verdictsOf(other).some((verdict) => verdict === body[named]) ||
          !claimed.some(({ key }) => key === named)))
    );
  });
}

/** Ignores vague names of lists, which are words for many things. */
function hasFieldOf(body: Json, { meant, verdictField }: ResultShape, { fields }: ResultShape): boolean {
  return firstKeys(body).some((key) => {
    const { field = '', rank = 0 } = meant(key) ?? {};
    if (field === '' || field === verdictField || fields.has(field)) return false;
    return rank <= 1 || Array.isArray(body[key]);
  });
}

function elsewhere(meant: Role) {
  const where = `publish it as ${meant}`;
  return { reason: `this is ${PARTS[kindOf(meant).part]}: ${where}`, fix: where, meant };
}

const PARTS = { work: 'the result of work, not a review', review: 'a review', note: 'a note' } as const;
