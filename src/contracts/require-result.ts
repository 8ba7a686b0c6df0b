import { checkedBy } from './checked.js';
import type { Role } from './names.js';
import { implementerResult, reviewerResult } from './results.js';

/** @throws ThroughlineError `schema_invalid` for what is no result of this role */
export function requireResult(role: Role, result: unknown): void {
  checkedBy(role === 'implementer' ? implementerResult : reviewerResult, result);
}
