import type { DecisionOn, ReplyOn, Unstamped } from '../../contracts/decision.js';
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

/** Number of the iteration that an event belongs to. */
export function iterationOf(state: SessionState): number {
  return currentNumber(state.history);
}
