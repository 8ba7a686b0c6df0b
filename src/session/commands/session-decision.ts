import type { DecisionOn, ReplyOn, Unstamped } from '../../contracts/decision.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { SessionEvent } from '../../contracts/session-events.js';
import { currentNumber } from '../iterations.js';
import type { SessionState } from '../session-state.js';

export { refuse } from '../../contracts/decision.js';

/** The outcome of a command on the state of a session. */
export type Decision = DecisionOn<SessionState, SessionEvent>;
export type Reply = ReplyOn<SessionState>;
export type NewEvent = Unstamped<SessionEvent>;

export function append(event: NewEvent, reply: Reply): Decision {
  return { kind: 'append', event, reply };
}

export function answer(reply: Reply): Decision {
  return { kind: 'answer', reply };
}

/**
 * What a command worked on, as it is afterwards. Another process may have deleted it before this one has read its own
 * event back.
 *
 * @throws ThroughlineError `not_found`
 */
export function stillThere<Entry>(entry: Entry | undefined, id: string): Entry {
  if (entry !== undefined) return entry;
  throw new ThroughlineError('not_found', `${id} was changed, and then deleted by another request`);
}

/** Number of the iteration that an event belongs to. */
export function iterationOf(state: SessionState): number {
  return currentNumber(state.history);
}
