import { LRUCache } from 'lru-cache';
import type { Logger } from '../ports/logger.js';

const EVERY_MS = 60_000;
/** Bounded: with more distinct warnings, some are repeated more often. */
const MAX_KNOWN = 1000;

/**
 * Limits each distinct warning to one per minute, and logs how many were suppressed in between.
 *
 * @param now monotonic clock in milliseconds
 * @returns logs a warning; `thing` identifies it if the message does not
 */
export function limitedWarnings(
  logger: Pick<Logger, 'warn'>,
  now: () => number,
): (fields: object, message: string, thing?: string) => void {
  const last = new LRUCache<string, { readonly at: number; silent: number }>({ max: MAX_KNOWN });
  return (fields, message, thing = message) => {
    const before = last.get(thing);
    if (before !== undefined && now() - before.at < EVERY_MS) {
      before.silent += 1;
      return;
    }
    last.set(thing, { at: now(), silent: 0 });
    const silent = before?.silent ?? 0;
    logger.warn({ ...fields, ...(silent > 0 && { silent }) }, message);
  };
}
