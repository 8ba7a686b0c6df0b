import type { ErrorCode } from './error-codes.js';

/**
 * The outcome of a command: an event to append, an answer without one, or a refusal. Pure: the caller adds time and id,
 * appends with the expected sequence, and decides again after a conflict.
 */
export type DecisionOn<State, Event> =
  | { readonly kind: 'append'; readonly event: Unstamped<Event>; readonly reply: ReplyOn<State> }
  | { readonly kind: 'answer'; readonly reply: ReplyOn<State> }
  | Refusal;

/** Makes the answer from the state after the event. */
export type ReplyOn<State> = (state: State) => object;

export interface Refusal {
  readonly kind: 'refuse';
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An event without version, time and id. */
export type Unstamped<Event> = Event extends { readonly type: string; readonly data: unknown }
  ? Pick<Event, 'type' | 'data'>
  : never;

export function refuse(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Refusal {
  return { kind: 'refuse', code, message, ...(details && { details }) };
}
