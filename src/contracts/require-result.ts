import { checkedBy } from './checked.js';
import type { Role } from './names.js';
import { implementerResult, reviewerResult } from './results.js';

/** @throws ThroughlineError `schema_invalid` for a body that is not a result of this role */
export function requireResult(role: Role, result: unknown): void {
  checkedBy(role === 'implementer' ? implementerResult : reviewerResult, result);
}
