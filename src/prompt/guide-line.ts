import { kindOf, type Role } from '../contracts/kinds.js';
import type { TaskLedger } from '../ledger/task-ledger.js';
import type { SessionState } from '../session/session-state.js';
import type { DeltaPacket } from './delta-packet.js';

type Step = 'begin' | 'continue' | 'approved' | 'settle';
type Field = keyof DeltaPacket;

const ASKED: readonly Field[] = ['required_fixes', 'blockers', 'issues'];
const TOLD: readonly Field[] = [
  'summary',
  'earlier_summary',
  'changed_files',
  'failing_tests',
  'passing_tests',
  'follow_ups',
];

/** What an agent of this role should do first, by what is known of its task; it names fields of the packet alone. */
export function guideLine(state: SessionState, taskId: string, role: Role, packet: DeltaPacket): string {
  const { guide } = kindOf(role).prompt;
  const asked = askedOf(role).filter((field) => packet[field] !== undefined);
  const told = TOLD.filter((field) => packet[field] !== undefined);
  const step = stepOf(role, state.dispatches.current().ledgers.get(taskId));
  // All that was asked for is in the packet, or it was cut to what must stay.
  const first = guide[step === 'settle' && asked.length === 0 ? 'continue' : step];
  const lines = [first, ...(told.length === 0 || guide.told === undefined ? [] : [guide.told])];
  const said = lines.join(' ').replace('{asked}', listed(asked)).replace('{told}', listed(told));
  return `Guide: ${said} Return only the result object.`;
}

/** Blockers are for the one who does the work. */
function askedOf(role: Role): readonly Field[] {
  return kindOf(role).part === 'work' ? ASKED : ASKED.filter((field) => field !== 'blockers');
}

function stepOf(role: Role, ledger: TaskLedger | undefined): Step {
  if (ledger === undefined) return 'begin';
  const { requiredFixes, issues, blockers, tries, assessment } = ledger;
  const asked = [...requiredFixes, ...issues, ...(kindOf(role).part === 'work' ? blockers : [])];
  if (asked.length > 0) return 'settle';
  if (tries.length > 0) return 'continue';
  return assessment === 'approved' ? 'approved' : 'begin';
}

/** `a`, `a and b`, `a, b and c`. */
function listed(fields: readonly Field[]): string {
  const last = fields.at(-1) ?? '';
  return fields.length < 2 ? last : `${fields.slice(0, -1).join(', ')} and ${last}`;
}
