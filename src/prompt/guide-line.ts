import { KINDS, kindOf, type Role } from '../contracts/kinds.js';
import type { TaskLedger } from '../ledger/task-ledger.js';
import type { SessionState } from '../session/session-state.js';

/** What an agent of this role should do first, by what is known of its task. */
export function guideLine(state: SessionState, taskId: string, role: Role): string {
  const ledger = state.dispatches.current().ledgers.get(taskId);
  return `Guide: ${KINDS[role].prompt.guide[stepOf(role, ledger)]} Return only the result object.`;
}

function stepOf(role: Role, ledger: TaskLedger | undefined): 'begin' | 'continue' | 'settle' {
  if (ledger === undefined) return 'begin';
  const { requiredFixes, issues, blockers, tries, assessment } = ledger;
  const asked = [...requiredFixes, ...issues, ...(kindOf(role).part === 'work' ? blockers : [])];
  if (asked.length > 0) return 'settle';
  return tries.length > 0 || assessment === 'approved' ? 'continue' : 'begin';
}
