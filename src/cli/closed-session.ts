import type { ThroughlineClient } from '../client/throughline-client.js';
import type { Token } from '../contracts/names.js';
import { LATE, withinDeadline } from '../shared/deadline.js';

/** A session that takes no results. */
export interface ClosedSession {
  readonly name: Token;
  readonly state: 'archived';
}

/** Longest wait for the answer, once the result is stored, in milliseconds. */
const PATIENCE_MS = 500;

/**
 * Begins to ask whether a session takes results; what it gives waits for the answer. `undefined` for one that takes them,
 * and where that cannot be told: by a user who may not ask, without a service, or not in time.
 */
export function asksWhetherClosed(
  { tools }: ThroughlineClient,
  name: Token,
): () => Promise<ClosedSession | undefined> {
  const asked = tools
    .sessionShow({ session: name })
    .then(({ session }): ClosedSession | undefined =>
      session.archived === undefined ? undefined : { name, state: 'archived' },
    )
    .catch(() => undefined);
  return async () => {
    const answer = await withinDeadline(PATIENCE_MS, asked);
    return answer === LATE ? undefined : answer;
  };
}

/** Says what becomes of a result that was stored for it, and what to do. */
export function closedText({ name }: ClosedSession): string {
  return `session ${name} is archived, so this result will be rejected. Let it take results again with "throughline session reopen ${name}", then "throughline rejected retry" sends this one again`;
}
