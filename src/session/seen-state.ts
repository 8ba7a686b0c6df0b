import { movedBoard } from './board-results.js';
import { resolvedSettings } from './resolved-settings.js';
import type { SessionState } from './session-state.js';

/** The state as people, agents and commands see it: its board follows the results, unless the session says otherwise. */
export function seenState(state: SessionState): SessionState {
  const { boardResults } = state.dispatches.current();
  const { boardFollowsResults } = resolvedSettings(state.charter.settings);
  if (boardResults.size === 0 || !boardFollowsResults) return state;
  return { ...state, board: movedBoard(state.board, boardResults) };
}
