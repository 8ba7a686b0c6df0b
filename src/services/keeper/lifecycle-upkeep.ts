import { codeOf } from '../../contracts/errors.js';
import type { Logger } from '../../ports/logger.js';
import type { SessionLifecycle } from '../../ports/session-lifecycle.js';

/** By then nothing of a forgotten session can be under way any longer, however long a process stood still. */
const KEPT_MS = 7 * 86_400_000;

/** Removes the records of sessions that were forgotten a week ago. Throws nothing: the next time comes soon. */
export async function expireForgotten(
  lifecycle: Pick<SessionLifecycle, 'expire'>,
  logger: Logger,
  now: number,
): Promise<void> {
  try {
    const removed = await lifecycle.expire(new Date(now - KEPT_MS).toISOString());
    if (removed > 0) logger.info({ removed }, 'records of forgotten sessions expired');
  } catch (error) {
    logger.warn({ code: codeOf(error), err: error }, 'records of forgotten sessions could not be removed');
  }
}
