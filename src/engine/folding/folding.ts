import type { EventFormat, Stored } from '../../contracts/event.js';

/** How events are folded into a state, and how a state is kept as a snapshot. */
export interface Folding<State, Event> {
  /** How its events are written and read; and whether a key names a session or a project. */
  readonly format: EventFormat<Event>;
  /** The state before the first event. */
  empty(key: string): State;
  /** Folds one event into the state, in place. */
  evolve(state: State, stored: Stored<Event>): unknown;
  /** A copy on which commands alone may be folded, where they need not wait for the other events. */
  fork?(state: State): State;
  /** Approximate bytes of memory of a state; asked for after each fold. */
  bytes(state: State): number;
  /** Writes a snapshot. */
  encode(state: State, createdAt: string): string;
  /** Reads a snapshot back, or says why it cannot be used. */
  decode(
    key: string,
    text: string,
  ): { readonly ok: true; readonly state: State } | { readonly ok: false; readonly reason: string };
}
