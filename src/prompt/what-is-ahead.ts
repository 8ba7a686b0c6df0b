import { driftOf, totalsOf } from '../ledger/next-task.js';
import { outcomeName, type TaskLedger } from '../ledger/task-ledger.js';
import { ledgersOf, outlook, type SessionState } from '../memory/session/session-state.js';
import { byPriority, isReady } from '../memory/session/task-board.js';
import { clipText, quoted } from '../shared/text.js';

/** Limit of ready tasks: later ones are relevant in their turn. */
const TASKS_AHEAD = 10;
/** Characters of open work per task. */
const MAX_OPEN = 300;

/**
 * Returns the words that select memory if the request has no task prompt: the goal, tasks in progress and the next
 * ready ones of the board, the active plan task, and open work of the newest results.
 */
export function whatIsAhead(state: SessionState): string {
  const { board, run } = state;
  const tasks = [...board.tasks.values()].sort(byPriority);
  const current = [
    ...tasks.filter((task) => task.status === 'in_progress').slice(0, TASKS_AHEAD),
    ...tasks.filter((task) => isReady(board, task)).slice(0, TASKS_AHEAD),
  ];
  const planned = run?.document.tasks ?? [];
  const { activeTaskId } = outlook(state);
  return [
    goalOf(state) ?? '',
    ...current.map((task) => task.content),
    planned.find(({ id }) => id === activeTaskId)?.text ?? '',
    ...openWords(state),
  ]
    .filter((text) => text !== '')
    .join(' ')
    .trim();
}

/** Returns the open work of unsettled tasks, those with the newest results first. */
function openWords(state: SessionState): string[] {
  return [...ledgersOf(state).values()]
    .filter(isOpenLedger)
    .sort((a, b) => b.last.sequence - a.last.sequence)
    .slice(0, TASKS_AHEAD)
    .map(({ task, summary = '', requiredFixes, blockers, issues, work }) => {
      const fixes = requiredFixes.length > 0 ? requiredFixes : issues.map(({ message }) => message);
      const failed = work.failed.map(({ command }) => command);
      return clipText([...fixes, ...blockers, ...failed, task, summary].join(' '), MAX_OPEN);
    });
}

/** True if the task was sent back, is blocked, has failed, or has failing tests. */
export function isOpenLedger({ requiredFixes, blockers, work, last, assessment }: TaskLedger): boolean {
  if (last.verdict === 'approved') return false;
  const isSentBack = requiredFixes.length > 0 || assessment === 'needs_changes' || assessment === 'blocked';
  return isSentBack || blockers.length > 0 || work.failed.length > 0 || last.verdict !== 'completed';
}

/** The session's own goal takes precedence over the run's. */
export function goalOf({ charter, run }: SessionState): string | undefined {
  return charter.goal ?? run?.goal;
}

const MAX_LINE = 500;
const MAX_DRIFT = 300;

/**
 * Renders the progress of a plan: `Plan: 12 of 40 done, next 3.2 Write the parser (last result: implementer_failed)`,
 * contradictions with results, and why the plan cannot be read now; empty without a plan.
 */
export function planProgress(state: SessionState, degraded?: string): string {
  const tasks = state.run?.document.tasks ?? [];
  const results = ledgersOf(state);
  const { total, completed } = totalsOf(tasks);
  if (total === 0) return '';
  const { planned, activeTaskId, whyNone } = outlook(state);
  const active = planned.find(({ task }) => task.id === activeTaskId)?.task;
  const where = active?.status === 'in-progress' ? 'in progress' : 'next';
  const none = whyNone === '' ? '' : `, none can be next (${whyNone})`;
  const task = active === undefined ? none : `, ${where} ${active.id} ${active.text}`;
  const last = results.get(active?.id ?? '')?.last;
  const result = last === undefined ? '' : ` (last result: ${outcomeName(last)})`;
  const text = quoted(`Plan: ${completed} of ${total} done${task}`);
  const line = `${clipText(text, MAX_LINE - result.length)}${result}${olderPlan(degraded)}`;
  const drift = driftOf(tasks, results).map(({ message }) => message);
  return drift.length === 0 ? line : `${line}. Drift: ${clipText(quoted(drift.join('; ')), MAX_DRIFT)}`;
}

/**
 * Renders the progress of the plan for an agent of one of its tasks: `Plan: 12 of 40 done, 2 more approved`. The next task is
 * not named, since an agent could take it for its own.
 */
export function planOfTask(state: SessionState, taskId: string, degraded?: string): string {
  const tasks = state.run?.document.tasks ?? [];
  if (!tasks.some(({ id }) => id === taskId)) return '';
  const { total, completed } = totalsOf(tasks);
  const approved = driftOf(tasks, ledgersOf(state)).filter(({ kind }) => kind === 'approved_but_open').length;
  const more = approved === 0 ? '' : `, ${approved} more approved`;
  return `Plan: ${completed} of ${total} done${more}${olderPlan(degraded)}`;
}

/** Says that the plan is as it was read last, and why. */
function olderPlan(degraded: string | undefined): string {
  if (degraded === undefined) return '';
  return `. The plan cannot be read now, and may have changed: ${clipText(quoted(degraded), MAX_DRIFT)}`;
}
