import type { Role } from '../contracts/kinds.js';
import type { LedgerListed } from '../contracts/replies/ledger-reply.js';

/** The roles, those of most prompts first. The table of kinds brings its schemas with it, which a page does not need. */
export const ROLE_NAMES = ['implementer', 'reviewer', 'observer'] as const satisfies readonly Role[];

/** Whether there are prompts of a role: one that only records is asked for nothing. */
export function hasPrompts(role: Role): boolean {
  return role !== 'observer';
}

/** Who acts next on a task. */
export function nextRole(action: LedgerListed['next_action']): Role {
  return action === 'dispatch_reviewer' ? 'reviewer' : 'implementer';
}
