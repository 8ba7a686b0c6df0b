import type { DecisionOn, ReplyOn, Unstamped } from '../../contracts/decision.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { SessionEvent } from '../../contracts/session-events.js';
import { currentNumber, type IterationHistory, openNumber } from '../iterations.js';
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

/** Number of the newest iteration, to which a change by anyone belongs; 0 before the first. */
export function iterationOf(state: SessionState): number {
  return currentNumber(state.history);
}

/** The iteration that a write of an agent at work belongs to: the running one, else it opens the next. */
export function workedIn({ history }: SessionState): { iteration: number; opens?: true } {
  const iteration = openNumber(history);
  return { iteration, ...opening(history, iteration) };
}

/** What the event of a write says that opens its iteration. */
export function opening(history: IterationHistory, number: number): { opens?: true } {
  return number > currentNumber(history) ? { opens: true } : {};
}
