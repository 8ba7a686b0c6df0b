import { hash } from 'node:crypto';
import type { RoleResult } from './results.js';

/** Characters of a key. */
export const RESULT_KEY_LENGTH = 12;

/**
 * What events and snapshots keep of a result's id: 72 bits of a SHA-256. An id may be long, or hold a secret; all that the
 * fold needs is to know it again. An id names a result of its role and task: agents that repeat the id of another's result,
 * or count from 1 in each task, lose nothing. Undefined without any id.
 *
 * @param messageId names the result where it has no `result_id`
 */
export function resultKey({ role, result }: RoleResult, messageId?: string): string | undefined {
  const { result_id: own, task_id: task } = result;
  const id = own ?? messageId;
  if (id === undefined) return undefined;
  const whole = JSON.stringify([own === undefined ? 'message' : 'result', role, task, id]);
  return hash('sha256', whole, 'base64url').slice(0, RESULT_KEY_LENGTH);
}
