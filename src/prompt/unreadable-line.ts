import type { Role } from '../contracts/kinds.js';
import { unreadOf } from '../session/known-rejections.js';
import { rejectionsOf, type SessionState } from '../session/session-state.js';
import { clipText, quoted } from '../shared/text.js';

const MAX_TEXT = 300;

/**
 * One line for the agent whose last result of the task could not be read: why, and that it shall be returned again; empty
 * where it could. The reason may quote anything. One that was published as another role's is nothing for that role.
 */
export function unreadableLine(state: SessionState, taskId: string, asked: Role): string {
  const rejection = unreadOf(rejectionsOf(state), taskId, asked);
  if (rejection === undefined || rejection.error.meant !== undefined) return '';
  const { code, reason } = rejection.error;
  // Of this one nothing was wrong with the result.
  const [what, why] =
    code === 'deliveries_exhausted'
      ? ['could not be stored', '']
      : ['could not be read', ` (${JSON.stringify(plain(reason))})`];
  return `Unreadable: Your last result of this task ${what}${why}. Do not redo work that is done: return its result again as the contract above says.`;
}

function plain(text: string): string {
  return clipText(quoted(text), MAX_TEXT);
}
