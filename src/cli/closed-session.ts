import type { ThroughlineClient } from '../client/throughline-client.js';
import { ThroughlineError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import { LATE, withinDeadline } from '../shared/deadline.js';

/** A session that takes no results: it is archived, or the name is one that it had before. */
export interface ClosedSession {
  readonly name: Token;
  readonly state: 'archived' | 'renamed';
  readonly renamedTo?: string;
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
    .catch((fault: unknown): ClosedSession | undefined => {
      const to = renamedTo(fault);
      // Until it is done, results of the name may still become those of the new one.
      return to === undefined || isUnderWay(fault) ? undefined : { name, state: 'renamed', renamedTo: to };
    });
  return async () => {
    const answer = await withinDeadline(PATIENCE_MS, asked);
    return answer === LATE ? undefined : answer;
  };
}

/** The name that a session has now, where a request was refused for its old one. */
export function renamedTo(fault: unknown): string | undefined {
  if (!(fault instanceof ThroughlineError) || fault.code !== 'session_renamed') return undefined;
  const to = fault.details?.renamedTo;
  return typeof to === 'string' ? to : undefined;
}

function isUnderWay(fault: unknown): boolean {
  return fault instanceof ThroughlineError && fault.details?.renaming === true;
}

/** What becomes of a result that was stored for it, and what to do; `publish` is the command for the new name. */
export function closedText({ name, renamedTo: to }: ClosedSession, publish: (session: string) => string) {
  return to === undefined
    ? `session ${name} is archived, so this result will be rejected. Let it take results again with "throughline session reopen ${name}", then "throughline rejected retry" sends this one again`
    : `session ${name} was renamed to ${to}, so this result will be rejected: publish it there with "${publish(to)}"`;
}
