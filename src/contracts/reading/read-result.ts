import { explainIssues, shown } from '../explain-issues.js';
import { kindOf, ROLES, type Role, type Verdict, verdictsOf } from '../kinds.js';
import { joined, namedOnce, RESULTS, taskId } from '../results.js';
import {
  BOOLEAN_RULES,
  isNothing,
  isObject,
  LIST_RULES,
  MISSING_RULES,
  OBJECT_RULES,
  type RepairRule,
  severityOf,
  TEXT_RULES,
  THIS_TASK,
} from './repair-rules.js';
import { Repairs, WHOLE } from './repairs.js';
import {
  type FieldShape,
  flagOf,
  isEmpty,
  type Json,
  lineInFile,
  MAX_KEYS,
  type ObjectShape,
  type ResultShape,
  resultShape,
  type Wanted,
} from './shape.js';
import { DEFAULT_SEVERITY, meantBy, OPPOSITES, plainName, VERDICT_WORDS } from './synonyms.js';

/**
 * Reads a result as far as it can be read: what its fields hold is made to fit them by the rules of `repair-rules.ts`, what
 * cannot be is left out, and each change is noted. A valid result stays as it is. Only the task and the verdict are
 * needed, and both must be clear.
 */
export type Reading =
  | { readonly ok: true; readonly task: string; readonly value: unknown; readonly repairs: Repairs }
  | ({ readonly ok: false } & Unreadable);

export interface Unreadable {
  readonly reason: string;
  /** What to do, one sentence. */
  readonly fix: string;
  /** The task, where it could be read. */
  readonly task?: string;
  /** The role whose result it seems to be, where that is another one. */
  readonly meant?: Role;
}

/** Reads a parsed body as the result of a role. */
export function readResult(json: unknown, role: Role): Reading {
  const repairs = new Repairs();
  const shape = resultShape(role);
  const body = unwrapped(json, shape, repairs);
  if (!isObject(body)) {
    const reason = explainIssues(RESULTS[role], body);
    return { ok: false, reason, fix: 'send one JSON object with the fields of a result' };
  }
  const task = readTask(body, shape);
  const verdict = readVerdict(body, shape);
  const known = typeof task.value === 'string' ? { task: task.value } : {};
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

/** Whether a result whose kind only records holds nothing to record. */
export function saysNothing({ summary, facts }: Json, role: Role): boolean {
  return kindOf(role).part === 'note' && isEmpty(summary) && !hasItems(facts);
}

const SAYS_NOTHING = {
  reason: 'it says nothing that can be read: it has neither a summary nor a fact',
  fix: 'give a summary, or facts [{subject, relation, object}]',
};

/** The role that a verdict belongs to, where one stands under the name of its field. */
function verdictOfOther(body: Json, role: Role): Role | undefined {
  return ROLES.find((other) => {
    const { verdictField } = kindOf(other);
    if (other === role || verdictField === undefined) return false;
    return firstKeys(body).some(
      (key) => plainName(key) === verdictField && verdictOf(body[key], verdictsOf(other)) !== undefined,
    );
  });
}

function elsewhere(meant: Role) {
  const where = publishItOn(meant);
  return { reason: `this is ${PARTS[kindOf(meant).part]}: ${where}`, fix: where, meant };
}

/** How a reason says where the result of a role belongs. */
export function publishItOn(role: Role): string {
  return `publish it on dispatch.<session>.${role}`;
}

/** What a field that must be clear says. */
interface Clear {
  readonly value: string | undefined;
  /** Whether it stands under its own name. */
  readonly sure?: boolean;
  readonly contradiction?: { readonly reason: string; readonly fix: string };
  readonly repairs: Repairs;
}

const NOT_NEEDED: Clear = { value: '', repairs: new Repairs() };

function readTask(body: Json, shape: ObjectShape): Clear {
  const repairs = new Repairs();
  let found: { key: string; value: string; sure: boolean } | undefined;
  for (const { key, rank } of keysFor('task_id', body, shape)) {
    if (found !== undefined && rank > 1) break;
    const own = new Repairs();
    const value = readText(body[key], 'task_id', 'task_id', taskId, own);
    if (value === undefined || (rank > 1 && !isId(value))) continue;
    const id = value.trim();
    if (found !== undefined && found.value !== id)
      return { value: undefined, contradiction: twice(found.key, found.value, key, id), repairs };
    if (found !== undefined) continue;
    found = { key, value: id, sure: rank <= 1 };
    if (key !== 'task_id') repairs.note('renamed', 'task_id', `found ${key}`);
    repairs.take(own);
  }
  return { value: found?.value, sure: found?.sure ?? false, repairs };
}

/** A task's other names hold titles too. */
function isId(text: string): boolean {
  return /^\S{1,64}$/.test(text.trim());
}

function twice(one: string, first: unknown, other: string, second: unknown) {
  return {
    reason: `${one} is ${shown(first)} and ${other} is ${shown(second)}: which of them holds is not clear`,
    fix: `keep one of ${one} and ${other}`,
  };
}

/** What one key says of the verdict: which it is, or which it is not. */
interface Claim {
  readonly key: string;
  readonly value?: Verdict | undefined;
  readonly denies?: Verdict | undefined;
}

function readVerdict(body: Json, shape: ResultShape): Clear {
  const { role, verdictField: field } = shape;
  if (field === undefined) return NOT_NEEDED;
  const values = verdictsOf(role);
  const repairs = new Repairs();
  const claims = [
    ...keysFor(field, body, shape).map(({ key }) => claimOf(key, body[key], values)),
    ...flagsOf(body, shape, values),
  ];
  const found = claims.find(({ value }) => value !== undefined) ?? claims.find(({ denies }) => denies);
  if (found === undefined) return { value: undefined, repairs };
  const value = found.value ?? (found.denies && OPPOSITES[found.denies]);
  const other = claims.find((claim) =>
    claim.value === undefined ? claim.denies !== undefined && isDenied(claim.denies) : claim.value !== value,
  );
  function isDenied(verdict: Verdict): boolean {
    return found?.value === undefined ? OPPOSITES[verdict] !== value : verdict === value;
  }
  if (other !== undefined) {
    const contradiction = twice(found.key, body[found.key], other.key, body[other.key]);
    return { value: undefined, contradiction, repairs };
  }
  if (keysFor(field, body, shape).some(({ key }) => key === found.key)) {
    if (found.key !== field) repairs.note('renamed', field, `found ${found.key}`);
    if (value !== body[found.key]) repairs.note('verdict', field, `${shown(body[found.key])} as ${value}`);
  } else repairs.note('verdict', field, `${found.key} as ${value}`);
  return { value, repairs };
}

function claimOf(key: string, value: unknown, values: readonly Verdict[]): Claim {
  const flag = typeof value === 'boolean' ? value : undefined;
  if (flag === undefined) return { key, value: verdictOf(value, values) };
  const positive = values.find((verdict) => OPPOSITES[verdict] !== undefined);
  return flag ? { key, value: positive } : { key, denies: positive };
}

/** The verdicts that are said by the names of fields: `approved: true`. */
function flagsOf(body: Json, shape: ResultShape, values: readonly Verdict[]): Claim[] {
  const claims: Claim[] = [];
  for (const key of firstKeys(body)) {
    const flag = flagOf(body[key]);
    if (flag === undefined || shape.meant(key)?.field === shape.verdictField) continue;
    const named = meantBy(key, values, VERDICT_WORDS);
    if (named === undefined) continue;
    if (flag) claims.push({ key, value: named });
    else if (OPPOSITES[named] !== undefined) claims.push({ key, denies: named });
  }
  return claims;
}

function verdictOf(value: unknown, values: readonly Verdict[]): Verdict | undefined {
  const said: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof said === 'string' ? meantBy(said, values, VERDICT_WORDS) : undefined;
}

/** Items of a list that are read: far more than a dispatch gives facts. */
export const MAX_ITEMS = 1000;

const first = new WeakMap<Json, readonly string[]>();

/** The keys of an object, up to a limit; listing a hundred thousand takes time, and is done once. */
function firstKeys(json: Json): readonly string[] {
  const known = first.get(json);
  if (known !== undefined) return known;
  const keys = Object.keys(json).slice(0, MAX_KEYS);
  first.set(json, keys);
  return keys;
}

interface Key {
  readonly key: string;
  readonly rank: number;
}

/** By shape and object, what its keys mean: the same object is asked for several fields, and may have any number of keys. */
const meanings = new WeakMap<ObjectShape, WeakMap<Json, ReadonlyMap<string, readonly Key[]>>>();
const NO_KEYS: readonly Key[] = [];

/** The keys of an object that may hold a field, the surest first. */
function keysFor(field: string, json: Json, shape: ObjectShape): readonly Key[] {
  const known = meanings.get(shape) ?? new WeakMap<Json, ReadonlyMap<string, readonly Key[]>>();
  if (!meanings.has(shape)) meanings.set(shape, known);
  const keys = known.get(json) ?? keysByField(json, shape);
  if (!known.has(json)) known.set(json, keys);
  return keys.get(field) ?? NO_KEYS;
}

function keysByField(json: Json, shape: ObjectShape): ReadonlyMap<string, readonly Key[]> {
  const keys = new Map<string, Key[]>();
  for (const field of shape.fields.keys())
    if (Object.hasOwn(json, field)) keys.set(field, [{ key: field, rank: 0 }]);
  for (const key of firstKeys(json)) {
    const meant = shape.meant(key);
    if (meant === undefined || meant.rank === 0) continue;
    const known = keys.get(meant.field);
    if (known === undefined) keys.set(meant.field, [{ key, rank: meant.rank }]);
    else known.push({ key, rank: meant.rank });
  }
  for (const each of keys.values()) each.sort((one, other) => one.rank - other.rank);
  return keys;
}

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
  // What has been read is not named: only what is wrong with the others.
  const rest: Record<string, unknown> = Object.create(null);
  for (const key of firstKeys(body))
    if (!fields.has(key) || key === 'task_id' || key === verdictField) rest[key] = body[key];
  const reason = explainIssues(RESULTS[role], { ...rest, ...needed });
  return { reason, fix: fixes.join(', and ') };
}

const PARTS = { work: 'the result of work, not a review', review: 'a review', note: 'a note' } as const;

/** The role whose result it seems to be: it holds that verdict, and no field that only `role` has. */
function otherRole(body: Json, role: Role): Role | undefined {
  const { fields } = resultShape(role);
  const keys = firstKeys(body);
  const others = ROLES.filter((other) => {
    const theirs = resultShape(other).fields;
    return (
      other !== role &&
      kindOf(other).verdictField !== undefined &&
      !keys.some((key) => fields.has(key) && !theirs.has(key))
    );
  });
  const ownName = (other: Role) => {
    const { verdictField } = kindOf(other);
    return verdictField !== undefined && verdictOf(body[verdictField], verdictsOf(other)) !== undefined;
  };
  return (
    others.find(ownName) ?? others.find((other) => readVerdict(body, resultShape(other)).value !== undefined)
  );
}

/** Most objects that a result is looked for in, one within the other. */
const MAX_WRAPPERS = 3;

/** The result in an object around it, or in a list of one. */
function unwrapped(json: unknown, shape: ResultShape, repairs: Repairs): unknown {
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

function readFields(
  json: Json,
  shape: ObjectShape,
  path: string,
  value: Record<string, unknown>,
  repairs: Repairs,
): void {
  for (const [field, expected] of shape.fields) {
    if (Object.hasOwn(value, field)) continue;
    const place = path === '' ? field : `${path}.${field}`;
    const candidates = keysFor(field, json, shape);
    const read = readField(json, field, expected, candidates, place, repairs);
    if (read !== undefined) value[field] = read;
  }
}

function readField(
  json: Json,
  field: string,
  { shape, required }: FieldShape,
  candidates: readonly Key[],
  place: string,
  repairs: Repairs,
): unknown {
  let found: { readonly key: string; readonly read: unknown } | undefined;
  let empty: { readonly key: string; readonly read: unknown; readonly own: Repairs } | undefined;
  for (const { key, rank } of candidates) {
    const own = new Repairs();
    const read = readValue(json[key], shape, field, place, own);
    if (read === undefined) {
      // Where nothing is found, what could not be read is told below.
      if (found !== undefined && !isEmpty(json[key])) repairs.note('skipped', place, `found ${key}`);
    } else if (found === undefined) {
      // An empty value does not stand before what another name holds.
      if (isEmpty(read) && candidates.some((other) => other.key !== key && !isEmpty(json[other.key]))) {
        empty ??= { key, read, own };
        continue;
      }
      found = { key, read };
      if (key !== field) repairs.note('renamed', place, `found ${key}`);
      repairs.take(own);
    } else if (Array.isArray(found.read) && Array.isArray(read)) {
      const more = rank > 1 ? read.filter((item) => mayJoin(item, field)) : read;
      if (more.length < read.length) repairs.note('skipped', place, `found ${key}`);
      if (more.length === 0) continue;
      const most = shape.wants === 'list' ? (shape.most ?? MAX_ITEMS) : MAX_ITEMS;
      const all = joined(found.read, more);
      repairs.note('joined', place, `with ${key}`);
      found = { ...found, read: kept(all, most, place, repairs) };
      repairs.take(own);
    } else if (read !== found.read) repairs.note('skipped', place, `found ${key}`);
  }
  if (found === undefined && empty !== undefined) {
    found = empty;
    if (empty.key !== field) repairs.note('renamed', place, `found ${empty.key}`);
    repairs.take(empty.own);
  }
  if (found !== undefined) return found.read;
  const missing = required ? MISSING_RULES.find((rule) => rule.field === field) : undefined;
  const derived = missing?.apply(json, field);
  if (missing !== undefined && derived !== undefined) {
    const given = candidates.find(({ key }) => !isEmpty(json[key]));
    // What stands there, a count, was not missing.
    if (shape.wants === 'boolean' && given !== undefined)
      repairs.note('boolean', place, `${shown(json[given.key])} as ${derived}`);
    else repairs.note(missing.kind, place, shownDetail(derived));
    return derived;
  }
  for (const { key } of candidates) {
    const value = json[key];
    if (isAbsent(value, shape)) repairs.note('absent', place, key === field ? undefined : `found ${key}`);
    else if (key === field) repairs.note('skipped', place, shown(value));
  }
  return undefined;
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** What is called `changes` tells of files or of what was done to them. */
function mayJoin(item: unknown, field: string): boolean {
  return field !== 'files_modified' || (typeof item === 'string' && !/\s/.test(item.trim()));
}

function shownDetail(value: unknown): string {
  return `now ${shown(value)}`;
}

/** A line does not belong to a file's name: the facts of one file stand together. */
function withoutLine(issue: Record<string, unknown>, place: string, repairs: Repairs): void {
  const found = typeof issue.file === 'string' ? lineInFile(issue.file) : undefined;
  if (found === undefined) return;
  issue.file = found.file;
  issue.message = `line ${found.line}: ${issue.message}`;
  repairs.note('line', `${place}.file`);
}

function isAbsent(value: unknown, { wants }: Wanted): boolean {
  if (typeof value !== 'string') return value === null || value === undefined;
  return value.trim() === '' || (wants === 'list' && isNothing(value));
}

function readValue(value: unknown, shape: Wanted, field: string, place: string, repairs: Repairs): unknown {
  if (value === null || value === undefined) return undefined;
  switch (shape.wants) {
    case 'text':
      return readText(value, field, place, shape.schema, repairs);
    case 'boolean':
      return typeof value === 'boolean' ? value : byRules(BOOLEAN_RULES, value, field, place, repairs);
    case 'choice':
      return readChoice(value, shape.values, field, place, repairs);
    case 'list':
      return readList(value, shape, field, place, repairs);
    case 'object':
      return readObject(value, shape, field, place, repairs);
  }
}

function byRules<Value>(
  rules: readonly RepairRule<Value>[],
  value: unknown,
  field: string,
  place: string,
  repairs: Repairs,
): Value | undefined {
  for (const { kind, apply } of rules) {
    const made = apply(value, field);
    if (made === undefined) continue;
    repairs.note(kind, place, typeof value === 'object' ? undefined : shown(value));
    return made;
  }
  return undefined;
}

function readText(
  value: unknown,
  field: string,
  place: string,
  schema: { safeParse(value: unknown): { success: boolean } },
  repairs: Repairs,
): string | undefined {
  const text = typeof value === 'string' ? value : byRules(TEXT_RULES, value, field, place, repairs);
  return text !== undefined && schema.safeParse(text).success ? text : undefined;
}

function readChoice(
  value: unknown,
  values: readonly string[],
  field: string,
  place: string,
  repairs: Repairs,
): string | undefined {
  if (typeof value === 'string' && values.includes(value)) return value;
  if (field === 'severity') {
    const severity = (typeof value === 'string' ? severityOf(value) : undefined) ?? DEFAULT_SEVERITY;
    repairs.note('severity', place, `${shown(value)} as ${severity}`);
    return severity;
  }
  const plain = typeof value === 'string' ? plainName(value) : '';
  const meant = values.find((each) => plainName(each) === plain);
  if (meant !== undefined) repairs.note('text', place, shown(value));
  return meant;
}

function readList(
  value: unknown,
  { item, most = Number.POSITIVE_INFINITY }: Extract<Wanted, { wants: 'list' }>,
  field: string,
  place: string,
  repairs: Repairs,
): readonly unknown[] | undefined {
  const given: readonly unknown[] | undefined = Array.isArray(value)
    ? value
    : byRules(LIST_RULES, value, field, place, repairs);
  if (given === undefined) return undefined;
  const items: unknown[] = [];
  const nested = item.wants === 'text' && given.some(Array.isArray);
  const all = nested ? given.flat() : given;
  if (all.length > MAX_ITEMS) repairs.note('clipped', place, `${MAX_ITEMS} of ${all.length} items read`);
  for (const [at, each] of all.slice(0, MAX_ITEMS).entries()) {
    const own = new Repairs();
    const read = readValue(each, item, field, `${place}.${at}`, own);
    if (read === undefined) repairs.note('skipped', `${place}.${at}`, shown(each));
    else {
      items.push(read);
      repairs.take(own);
    }
  }
  if (nested) repairs.note('list', place);
  // In what was no list there is nothing that says it is empty.
  if (items.length === 0 && !Array.isArray(value)) return undefined;
  return kept(items, most, place, repairs);
}

/** A list as long as it may be. */
function kept(items: readonly unknown[], most: number, place: string, repairs: Repairs): readonly unknown[] {
  if (items.length <= most) return items;
  repairs.note('clipped', place, `${most} of ${items.length} kept`);
  return items.slice(0, most);
}

function readObject(
  value: unknown,
  shape: ObjectShape,
  field: string,
  place: string,
  repairs: Repairs,
): Json | undefined {
  const json = isObject(value) ? value : byRules(OBJECT_RULES, value, field, place, repairs);
  if (json === undefined) return undefined;
  const read: Record<string, unknown> = {};
  readFields(json, shape, place, read, repairs);
  for (const [name, { required }] of shape.fields) if (required && read[name] === undefined) return undefined;
  if (field === 'issues') withoutLine(read, place, repairs);
  // What each field holds is right: what they say together may not be.
  return shape.schema.safeParse(read).success ? read : undefined;
}
