import { shown } from '../explain-issues.js';
import { kindOf, ROLES, type Role, type Verdict, verdictsOf } from '../kinds.js';
import { taskId } from '../results.js';
import { readText } from './field-values.js';
import { Repairs } from './repairs.js';
import {
  firstKeys,
  flagOf,
  isEmpty,
  type Json,
  keysFor,
  type ObjectShape,
  type ResultShape,
  resultShape,
} from './shape.js';
import { meantBy, OPPOSITES, plainName, VERDICT_WORDS } from './synonyms.js';

/** The value of a task or verdict field. */
export interface Clear {
  readonly value: string | undefined;
  /** True if the field has its own name. */
  readonly sure?: boolean;
  readonly contradiction?: { readonly reason: string; readonly fix: string };
  readonly repairs: Repairs;
}

const NOT_NEEDED: Clear = { value: '', repairs: new Repairs() };

export function readTask(body: Json, shape: ObjectShape): Clear {
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

/** Other names of a task field may also contain titles. */
function isId(text: string): boolean {
  return /^\S{1,64}$/.test(text.trim());
}

function twice(one: string, first: unknown, other: string, second: unknown) {
  return {
    reason: `${one} is ${shown(first)} and ${other} is ${shown(second)}: which of them holds is not clear`,
    fix: `keep one of ${one} and ${other}`,
  };
}

/** One key's claim about the verdict: which it is, or which it is not. */
interface Claim {
  readonly key: string;
  readonly value?: Verdict | undefined;
  readonly denies?: Verdict | undefined;
}

export function readVerdict(body: Json, shape: ResultShape): Clear {
  const { verdictField: field } = shape;
  if (field === undefined) return NOT_NEEDED;
  const repairs = new Repairs();
  const claims = claimsOf(body, shape);
  const found = claims.find(({ value }) => value !== undefined) ?? claims[0];
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

/** The surest first. */
export function claimsOf(body: Json, shape: ResultShape): Claim[] {
  const { role, verdictField: field } = shape;
  if (field === undefined) return [];
  const values = verdictsOf(role);
  const claims = keysFor(field, body, shape).map(({ key }) => claimOf(key, body[key], values));
  return [...claims, ...flagsOf(body, shape, values)].filter(({ value, denies }) => value ?? denies);
}

function claimOf(key: string, value: unknown, values: readonly Verdict[]): Claim {
  const flag = typeof value === 'boolean' ? value : undefined;
  if (flag === undefined) return { key, value: verdictOf(value, values) };
  const positive = values.find((verdict) => OPPOSITES[verdict] !== undefined);
  return flag ? { key, value: positive } : { key, denies: positive };
}

/** Reads verdicts from field names: `approved: true`. */
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

export function verdictOf(value: unknown, values: readonly Verdict[]): Verdict | undefined {
  const said: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof said === 'string' ? meantBy(said, values, VERDICT_WORDS) : undefined;
}

/** Returns the role whose verdict field the body has. */
export function verdictOfOther(body: Json, role: Role): Role | undefined {
  return ROLES.find((other) => {
    const { verdictField } = kindOf(other);
    if (other === role || verdictField === undefined) return false;
    return firstKeys(body).some(
      (key) => plainName(key) === verdictField && verdictOf(body[key], verdictsOf(other)) !== undefined,
    );
  });
}

/**
 * Returns the role whose result the body really is, even if its words are also verdicts of `role`: all its claims are
 * claims of that role, and it has no field that only `role` has.
 */
export function resultOfOther(body: Json, role: Role): Role | undefined {
  const shape = resultShape(role);
  const { verdictField } = shape;
  if (verdictField === undefined) return undefined;
  if (keysFor(verdictField, body, shape).some(({ key, rank }) => rank <= 1 && !isEmpty(body[key])))
    return undefined;
  const claimed = claimsOf(body, shape);
  return ROLES.find((other) => {
    const theirs = resultShape(other);
    if (other === role || hasFieldOf(body, shape, theirs)) return false;
    const said = new Set(claimsOf(body, theirs).map(({ key }) => key));
    if (said.size === 0 || !claimed.every(({ key }) => said.has(key))) return false;
    return hasFieldOf(body, theirs, shape) || saysVerdictOf(body, theirs, role);
  });
}

/** Ignores vague names of lists, which are words for many things. */
function hasFieldOf(body: Json, { meant, verdictField }: ResultShape, { fields }: ResultShape): boolean {
  return firstKeys(body).some((key) => {
    const { field, rank } = meant(key) ?? {};
    if (field === undefined || rank === undefined || field === verdictField || fields.has(field))
      return false;
    return rank <= 1 || Array.isArray(body[key]);
  });
}

/** True if a kind's verdict has its own field name and is not also a verdict of `role`. */
function saysVerdictOf(body: Json, theirs: ResultShape, role: Role): boolean {
  const { verdictField } = theirs;
  const verdicts = verdictsOf(theirs.role);
  return firstKeys(body).some((key) => {
    if (plainName(key) !== verdictField) return false;
    const said = body[key];
    return verdictOf(said, verdictsOf(role)) === undefined
      ? verdictOf(said, verdicts) !== undefined
      : verdicts.some((verdict) => verdict === said);
  });
}

export function elsewhere(meant: Role) {
  const where = publishItOn(meant);
  return { reason: `this is ${PARTS[kindOf(meant).part]}: ${where}`, fix: where, meant };
}

export function publishItOn(role: Role): string {
  return `publish it on dispatch.<session>.${role}`;
}

const PARTS = { work: 'the result of work, not a review', review: 'a review', note: 'a note' } as const;

/** Returns the role whose verdict the body has, without a field that only `role` has. */
export function otherRole(body: Json, role: Role): Role | undefined {
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
