import { driftOf, outlookOf, type TaskResults } from '../ledger/next-task.js';
import { totalsOf } from '../ledger/progress-ledger.js';
import { outcomeName } from '../ledger/task-ledger.js';
import type { Run } from '../session/session-run.js';
import { clipText, quoted } from '../shared/text.js';

const MAX_LINE = 500;
const MAX_DRIFT = 300;

/**
 * How far the plan of a run is: `Plan: 12 of 40 done, next 3.2 Write the parser (last result:
 * implementer_failed)`, and where results contradict it; empty without a plan.
 */
export function planProgress(run: Run | undefined, results: TaskResults): string {
  const tasks = run?.document.tasks ?? [];
  const { total, completed } = totalsOf(tasks);
  if (total === 0) return '';
  const { planned, activeTaskId, whyNone } = outlookOf(tasks, results);
  const active = planned.find(({ task }) => task.id === activeTaskId)?.task;
  const where = active?.status === 'in-progress' ? 'in progress' : 'next';
  const none = whyNone === '' ? '' : `, none can be next (${whyNone})`;
  const task = active === undefined ? none : `, ${where} ${active.id} ${active.text}`;
  const last = results.get(active?.id ?? '')?.last;
  const result = last === undefined ? '' : ` (last result: ${outcomeName(last)})`;
  const said = quoted(`Plan: ${completed} of ${total} done${task}`);
  const line = `${clipText(said, MAX_LINE - result.length)}${result}`;
  const drift = driftOf(tasks, results).map(({ message }) => message);
  return drift.length === 0 ? line : `${line}. Drift: ${clipText(quoted(drift.join('; ')), MAX_DRIFT)}`;
}
