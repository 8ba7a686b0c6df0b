import { shown } from '../explain-issues.js';
import { type Verdict, verdictsOf } from '../kinds.js';
import { taskId } from '../results.js';
import { readText } from './field-values.js';
import { Repairs } from './repairs.js';
import { firstKeys, flagOf, type Json, keysFor, type ObjectShape, type ResultShape } from './shape.js';
import { meantBy, OPPOSITES, VERDICT_WORDS } from './synonyms.js';

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
