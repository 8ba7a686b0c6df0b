import { hash } from 'node:crypto';

/** Characters of a key. */
export const RESULT_KEY_LENGTH = 12;

/**
 * What events and snapshots keep of a result's id: 72 bits of its SHA-256. An id may be long, or hold a secret; all that
 * the fold needs is to know it again.
 */
export function resultKey(id: string): string {
  return hash('sha256', id, 'base64url').slice(0, RESULT_KEY_LENGTH);
}
