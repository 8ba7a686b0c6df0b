import { shown } from '../explain-issues.js';
import { kindOf, ROLES, type Role, type Verdict, verdictsOf } from '../kinds.js';
import { taskId } from '../results.js';
import { readText } from './field-values.js';
import { asBoolean } from './repair-rules.js';
import { Repairs } from './repairs.js';
import {
  firstKeys,
  isEmpty,
  type Json,
  keysFor,
  type ObjectShape,
  type ResultShape,
  resultShape,
} from './shape.js';
import { meantBy, OPPOSITES, plainName, VERDICT_WORDS } from './synonyms.js';

/** The value of a task or verdict field, which must be unambiguous. */
export interface Clear {
  readonly value: string | undefined;
  readonly contradiction?: { readonly reason: string; readonly fix: string };
  readonly repairs: Repairs;
}

/** Takes the field's own name, or the surest other one: names such as `id` count only if they hold an id. */
export function readTask(body: Json, shape: ObjectShape): Clear {
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

export function readVerdict(body: Json, shape: ResultShape): Clear {
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

/**
 * Returns the role whose result the body really is, even if its words are also verdicts of `role`: all its claims are
 * claims of that role, and it has no field that only `role` has.
 */
export function resultOfOther(body: Json, role: Role): Role | undefined {
  const shape = resultShape(role);
  const keys = firstKeys(body);
  const { verdictField } = shape;
  if (keys.some((key) => plainName(key) === plainName(verdictField ?? '') && !isEmpty(body[key])))
    return undefined;
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

export function elsewhere(meant: Role) {
  const where = `publish it as ${meant}`;
  return { reason: `this is ${PARTS[kindOf(meant).part]}: ${where}`, fix: where, meant };
}

const PARTS = { work: 'the result of work, not a review', review: 'a review', note: 'a note' } as const;
