import type { Role } from '../contracts/kinds.js';
import { unreadOf } from '../session/known-rejections.js';
import { rejectionsOf, type SessionState } from '../session/session-state.js';
import { clipText, quoted } from '../shared/text.js';

const MAX_TEXT = 300;

/**
 * One line that says that the last result of the task could not be read, why, and what to return; empty where it could.
 * What is quoted in it may come from anywhere.
 */
export function unreadableLine(state: SessionState, taskId: string, asked: Role): string {
  const rejection = unreadOf(rejectionsOf(state), taskId);
  if (rejection === undefined) return '';
  const { role = asked, error } = rejection;
  const { code, reason, fix } = error;
  const why = `(${plain(code)}): ${JSON.stringify(plain(reason))}.`;
  const how = fix === undefined ? '' : ` To fix it: ${JSON.stringify(plain(fix))}.`;
  return role === asked
    ? `Unreadable: the last result of this task could not be read ${why}${how} Return the whole result again.`
    : `Unreadable: the last ${role} result of this task could not be read ${why} Nothing of it is known here.`;
}

function plain(text: string): string {
  return clipText(quoted(text), MAX_TEXT);
}
