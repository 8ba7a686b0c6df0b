import { createHash } from 'node:crypto';

/** 16 hex characters of the text's SHA-256. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
