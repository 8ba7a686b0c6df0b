import type { StoredEvent } from '../../contracts/session-events.js';
import { PastResults } from '../search/past-results.js';
import { evolve } from './evolve-session.js';
import { stateFromJson, stateJson, stateToJson } from './session-snapshot.js';
import { emptyState, type SessionState } from './session-state.js';

/** Fields of a state with a number of a dispatch. */
const DISPATCHES: ReadonlySet<string> = new Set(['sequence', 'sourceSequence', 'closedBy', 'after']);

/** Folds the events of a session file into the state that a new session begins with. */
export class ImportedState {
  readonly #state = emptyState('imported');

  add(stored: StoredEvent): void {
    evolve(this.#state, stored);
  }

  /**
   * Returns the state for the beginning of a log.
   *
   * Its dispatches were numbered by another installation, and new ones may have any number from 1. So all are settled, none counts
   * as known, and their numbers are lowered to 0 and less: the order stays, and every new result is newer. Entries of a trace are
   * recognized by these numbers too, so a trace forgets which ones it has.
   */
  settled(session: string): SessionState {
    const { dispatches } = this.#state;
    const newest = dispatches.newest();
    dispatches.settle();
    const lowered = JSON.stringify(stateToJson(this.#state), (field, value: unknown) => {
      if (DISPATCHES.has(field) && typeof value === 'number') return Math.min(0, value - newest);
      return field === 'seen' && Array.isArray(value) ? [] : value;
    });
    const json = stateJson.parse(JSON.parse(lowered));
    const { tasks, ...past } = new PastResults(json.past).lowered(newest).toJSON();
    const { sequence, lastEvent, lastCommand, checkpoint } = this.#state;
    const at = { sequence, lastEvent, lastCommand, checkpoint };
    const refFloor = this.#state.refFloor + Math.max(0, newest);
    const moved = { ...json, ...(refFloor > 0 && { ref_floor: refFloor }) };
    return stateFromJson(session, at, { ...moved, past: { ...past, tasks: [...tasks] } });
  }
}
