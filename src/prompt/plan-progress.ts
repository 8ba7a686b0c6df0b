import { activeTaskOf, totalsOf } from '../ledger/progress-ledger.js';
import { outcomeName, type TaskLedger } from '../ledger/task-ledger.js';
import type { Run } from '../session/session-run.js';
import { clipText, quoted } from '../shared/text.js';

const MAX_LINE = 500;

/** How far the plan of a run is: `Plan: 12 of 40 done, next 3.2 Write the parser (last result:
 * implementer_failed)`; empty without one. */
export function planProgress(
  run: Run | undefined,
  ledgers: ReadonlyMap<string, Pick<TaskLedger, 'last'>>,
): string {
  const tasks = run?.document.tasks ?? [];
  const { total, completed } = totalsOf(tasks);
  if (total === 0) return '';
  const active = tasks.find(({ id }) => id === activeTaskOf(tasks));
  const where = active?.status === 'in-progress' ? 'in progress' : 'next';
  const task = active === undefined ? '' : `, ${where} ${active.id} ${active.text}`;
  const ledger = ledgers.get(active?.id ?? '');
  const result = ledger === undefined ? '' : ` (last result: ${outcomeName(ledger.last)})`;
  const said = quoted(`Plan: ${completed} of ${total} done${task}`);
  return `${clipText(said, MAX_LINE - result.length)}${result}`;
}
