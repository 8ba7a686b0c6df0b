import { hash } from 'node:crypto';

/** The first 16 hexadecimal digits of a SHA-256. */
export function hashOf(text: string | Uint8Array): string {
  return hash('sha256', text).slice(0, 16);
}
