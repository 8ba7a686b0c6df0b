import { kindOf, ROLES, type Role, verdictsOf } from '../kinds.js';
import { claimsOf, readVerdict, verdictOf } from './clear-fields.js';
import { firstKeys, isEmpty, type Json, keysFor, type ResultShape, resultShape } from './shape.js';
import { plainName } from './synonyms.js';

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
