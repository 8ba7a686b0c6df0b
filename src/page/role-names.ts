import type { Role } from '../contracts/kinds.js';

/** The roles, those of most prompts first. The table of kinds brings its schemas with it, which a page does not need. */
export const ROLE_NAMES = ['implementer', 'reviewer', 'observer'] as const satisfies readonly Role[];
