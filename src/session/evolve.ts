import type { StoredEvent } from '../contracts/session-events.js';
import { assertNever } from '../errors.js';
import type { SessionState } from './state.js';

/**
 * Folds one event into the state, in place, and returns it. Pure but for that: time and ids come with the event.
 */
export function evolve(state: SessionState, { sequence, event }: StoredEvent): SessionState {
  state.sequence = sequence;
  if (event.at > state.lastEventAt) state.lastEventAt = event.at;
  switch (event.type) {
    case 'fact.recorded': {
      const { dispatch, facts } = event.data;
      // A dispatch that was given up and recorded after all counts as recorded.
      state.dispatches.insert(
        {
          kind: 'recorded',
          sequence: dispatch.sequence,
          at: dispatch.at,
          event: sequence,
          role: dispatch.role,
          task: dispatch.task,
          facts,
        },
        (known) => known.kind === 'rejected',
      );
      return state;
    }
    case 'dispatch.rejected': {
      const { dispatch, error } = event.data;
      state.dispatches.insert({
        kind: 'rejected',
        sequence: dispatch.sequence,
        at: dispatch.at,
        event: sequence,
        error,
      });
      return state;
    }
    default:
      return assertNever(event);
  }
}
