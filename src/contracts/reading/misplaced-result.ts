import { kindOf, ROLES, type Role, verdictsOf } from '../kinds.js';
import { readVerdict, verdictOf } from './clear-fields.js';
import { firstKeys } from './object-keys.js';
import { type Json, resultShape } from './shape.js';
import { plainName } from './synonyms.js';

/** The role that a verdict belongs to, where one stands under the name of its field. */
export function verdictOfOther(body: Json, role: Role): Role | undefined {
  return ROLES.find((other) => {
    const { verdictField } = kindOf(other);
    if (other === role || verdictField === undefined) return false;
    return firstKeys(body).some(
      (key) => plainName(key) === verdictField && verdictOf(body[key], verdictsOf(other)) !== undefined,
    );
  });
}

export function elsewhere(meant: Role) {
  const where = publishItOn(meant);
  return { reason: `this is ${PARTS[kindOf(meant).part]}: ${where}`, fix: where, meant };
}

/** How a reason says where the result of a role belongs. */
export function publishItOn(role: Role): string {
  return `publish it on dispatch.<session>.${role}`;
}

const PARTS = { work: 'the result of work, not a review', review: 'a review', note: 'a note' } as const;

/** The role whose result it seems to be: it holds that verdict, and no field that only `role` has. */
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
