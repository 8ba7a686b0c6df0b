import { ThroughlineError } from '../../../contracts/errors.js';
import {
  type DecisionOn,
  type Refusal,
  type ReplyOn,
  refuse,
  type Unstamped,
} from '../../../contracts/outcome.js';
import type { SessionEvent } from '../../../contracts/session-events.js';
import { currentNumber, type IterationHistory, openNumber } from '../iterations.js';
import type { SessionState } from '../session-state.js';

export { refuse } from '../../../contracts/outcome.js';

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

/**
 * How much a session may keep. Commands refuse more. Stored events are folded whatever their number, so that the
 * meaning of a log never changes.
 */
export const MOST = {
  /** All of them stand in one reply of `note-list`. */
  notes: 1000,
  unread: 1000,
  /** Messages are kept when they have been read. */
  messages: 5000,
  answers: 1000,
  tasks: 5000,
  /** Characters of all notes together, of all messages, and of all tasks. */
  text: 1_000_000,
} as const;

/** The refusal of one more if `held` has reached the limit. */
export function full(what: string, held: number, most: number, fix: string): Refusal | undefined {
  return held < most
    ? undefined
    : refuse('limit_reached', `the session holds ${held} ${what}, the limit is ${most}: ${fix}`, {
        limit: most,
      });
}

/** The refusal of a text for which all others leave no room. */
export function fullText(
  what: string,
  others: Iterable<{ readonly content: string }>,
  content: string,
  fix: string,
): Refusal | undefined {
  let characters = content.length;
  for (const other of others) characters += other.content.length;
  return characters <= MOST.text
    ? undefined
    : refuse(
        'limit_reached',
        `content: all ${what} of the session would have ${characters} characters, the limit is ${MOST.text}: ${fix}`,
        { limit: MOST.text },
      );
}
