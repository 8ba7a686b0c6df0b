import type { EventFormat, Stored } from '../../contracts/event.js';

export interface Folding<State, Event> {
  /** Codec of the events. */
  readonly format: EventFormat<Event>;
  empty(key: string): State;
  /** Folds one event into the state, in place. */
  evolve(state: State, stored: Stored<Event>): unknown;
  /** Copies a state so that only commands are folded on the copy. */
  fork?(state: State): State;
  /** Approximate memory of a state in bytes; called after each fold. */
  bytes(state: State): number;
  encode(state: State, createdAt: string): string;
  /** Decodes a snapshot, or says why it cannot be used. */
  decode(
    key: string,
    text: string,
  ): { readonly ok: true; readonly state: State } | { readonly ok: false; readonly reason: string };
}
