import type { Token } from '../../src/contracts/names.js';
import type { SessionActivity } from '../../src/engine/ports/session-log.js';

export async function sessionsOf(log: Pick<SessionActivity, 'activity'>): Promise<Token[]> {
  return (await log.activity()).map(({ session }) => session).sort();
}
