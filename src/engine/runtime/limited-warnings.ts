import { LRUCache } from 'lru-cache';
import type { Logger } from '../ports/logger.js';

const EVERY_MS = 60_000;
/** Only the latest warnings are remembered: with more at once, some are repeated more often. */
const MAX_KNOWN = 1000;

/**
 * Warns of one thing once a minute, and says how often it was silent in between.
 *
 * @param now milliseconds, of any beginning
 * @returns takes fields and message, and what the thing is where the message does not say it
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
