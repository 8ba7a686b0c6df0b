import type { ErrorCode } from '../../contracts/error-codes.js';
import type { SessionEvent } from '../../contracts/session-events.js';
import { currentNumber } from '../iterations.js';
import type { SessionState } from '../state.js';

/**
 * What a command comes to on a state: an event to append, an answer without one, or a refusal. Pure: the caller
 * stamps time and id, appends expecting the state's sequence, and decides again when somebody else came first.
 */
export type Decision =
  | { readonly kind: 'append'; readonly event: NewEvent; readonly reply: Reply }
  | { readonly kind: 'answer'; readonly reply: Reply }
  | {
      readonly kind: 'refuse';
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: Readonly<Record<string, unknown>>;
    };

/** Makes the answer from the state as it is after the event. */
export type Reply = (state: SessionState) => object;

type WithoutStamp<Event> = Event extends SessionEvent ? Pick<Event, 'type' | 'data'> : never;
/** An event before it is stamped. */
export type NewEvent = WithoutStamp<SessionEvent>;

export function append(event: NewEvent, reply: Reply): Decision {
  return { kind: 'append', event, reply };
}

export function answer(reply: Reply): Decision {
  return { kind: 'answer', reply };
}

export function refuse(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Decision {
  return { kind: 'refuse', code, message, ...(details && { details }) };
}

/** Number of the iteration that an event belongs to. */
export function iterationOf(state: SessionState): number {
  return currentNumber(state.history);
}
