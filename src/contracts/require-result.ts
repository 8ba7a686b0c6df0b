import { checkedBy } from './checked.js';
import type { Role } from './kinds.js';
import { RESULTS } from './results.js';

/** @throws ThroughlineError `schema_invalid` for a body that is not a result of this role */
export function requireResult(role: Role, result: unknown): void {
  checkedBy(RESULTS[role], result);
}
