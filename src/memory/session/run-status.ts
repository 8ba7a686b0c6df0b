import type { RunStatusReply } from '../../contracts/replies/run-reply.js';
import type { Figures } from '../../contracts/replies/session-reply.js';
import { replanHint, tasksLeft } from '../../ledger/ledger-entries.js';
import { driftOf, outlookOf, type PlanOutlook, type TaskResults } from '../../ledger/next-task.js';
import { totalsOf } from '../../ledger/progress-ledger.js';
import { nextAction, outcomeName, signalsOf, type TaskLedger } from '../../ledger/task-ledger.js';
import { clipText, oneLine } from '../../shared/text.js';
import { resolvedSettings } from './charter.js';
import { overview } from './commands/lifecycle-commands.js';
import { unreadableTasks } from './known-rejections.js';
import type { Run } from './session-run.js';
import { ledgersOf, rejectionsOf, type SessionState, seenState } from './session-state.js';
import type { Task } from './task-board.js';

export type RunStatus = Omit<RunStatusReply, 'sequence' | 'degraded'>;
export type TaskProgress = RunStatus['tasks'][number];

export function runStatus(state: SessionState): RunStatus {
  const seen = seenState(state);
  const { run } = state;
  const ledgers = ledgersOf(state);
  return {
    ...overview(seen),
    run: run === undefined ? null : planInNumbers(run, ledgers),
    tasks: [...ledgers.values()].map((ledger) => progressOf(seen, ledger)),
    unreadable: unreadableTasks(rejectionsOf(state)),
  };
}

export function planInNumbers(
  { spec, goal, source, document }: Run,
  results: TaskResults,
  { nextTaskId, activeTaskId, whyNone }: PlanOutlook = outlookOf(document.tasks, results),
): NonNullable<RunStatus['run']> {
  const drift = driftOf(document.tasks, results);
  return {
    spec,
    ...(goal !== undefined && { goal }),
    source,
    fingerprint: document.fingerprint,
    totals: totalsOf(document.tasks),
    active_task_id: activeTaskId,
    next_task_id: nextTaskId,
    ...(whyNone !== '' && { held: whyNone }),
    problems: document.problems,
    guesses: document.guesses ?? 0,
    unnamed: document.unnamed ?? 0,
    ...(drift.length > 0 && { drift }),
  };
}

export function progressOf(
  { charter, run, board: { tasks } }: SessionState,
  ledger: TaskLedger,
): TaskProgress {
  const { stallThresholds } = resolvedSettings(charter.settings);
  const { questions = [] } = ledger;
  const raised = signalsOf(ledger, stallThresholds);
  const hint = replanHint(raised);
  const board = tasks.get(ledger.task)?.status;
  const plan = run?.document.tasks.find(({ id }) => id === ledger.task)?.status;
  return {
    task: ledger.task,
    ...(board !== undefined && { board }),
    ...(plan !== undefined && { plan }),
    dispatches: ledger.dispatches,
    last_outcome: outcomeName(ledger.last),
    next_action: nextAction(ledger, tasksLeft(run?.document, ledger.task)),
    required_fixes: ledger.requiredFixes.length,
    ...(questions.length > 0 && { questions }),
    stalled: raised.length > 0,
    ...(hint !== undefined && { replan_hint: hint }),
  };
}

const MAX_GOAL = 300;
const MAX_REASON = 300;
const MAX_LISTED = 5;

export function sessionFigures(state: SessionState): Figures {
  const seen = seenState(state);
  const { session } = overview(seen);
  const status = runStatus(state);
  const { rejected, ...read } = session.dispatches;
  const isOpen = session.status === 'open' && session.archived === undefined;
  const goal = session.goal ?? state.run?.goal;
  return {
    session: state.session,
    status: session.status,
    ...(state.startedAt && { startedAt: state.startedAt }),
    ...(session.project !== undefined && { project: session.project }),
    ...(session.title !== undefined && { title: oneLine(session.title) }),
    ...(goal !== undefined && { goal: clipText(oneLine(goal), MAX_GOAL) }),
    results: Object.values(read).reduce((sum, count) => sum + count, 0),
    rejected,
    facts: session.facts,
    board: {
      open: session.board.remaining + session.board.in_progress + session.board.blocked,
      done: session.board.completed,
    },
    ...(status.run !== null && {
      plan: { spec: status.run.spec, done: status.run.totals.completed, total: status.run.totals.total },
    }),
    stalled: isOpen ? stalledTasks(status) : [],
    waiting: isOpen ? waitingFor(status, seen.board.tasks.values()) : [],
    unread: session.unread,
  };
}

function stalledTasks({ tasks }: RunStatus): Figures['stalled'] {
  return tasks
    .filter(({ stalled }) => stalled)
    .slice(-MAX_LISTED)
    .reverse()
    .map(({ task, board, plan, replan_hint = '' }) => ({
      task,
      where: board !== undefined ? 'board' : plan !== undefined ? 'plan' : 'results',
      reason: said(replan_hint),
    }));
}

/** Lists what needs a person: open questions first, then halted reviews, unreadable results, and the rest. */
function waitingFor({ tasks, unreadable, run }: RunStatus, board: Iterable<Task>): string[] {
  const halted = tasks.filter(({ next_action }) => next_action === 'halt_and_escalate');
  const isHalted = (id: string) => halted.some(({ task }) => task === id);
  const asks = new Set(tasks.flatMap(({ task, questions }) => (questions === undefined ? [] : [task])));
  const blocked = [...board].filter(
    ({ id, status }) => status === 'blocked' && !isHalted(id) && !asks.has(id),
  );
  const waiting = [
    ...tasks.flatMap(({ task, questions = [] }) => questions.map(({ text }) => `task ${task} asks: ${text}`)),
    ...halted.map(({ task }) => `task ${task}: its review says that a person must decide`),
    ...unreadable.map(
      ({ task, code, reason }) => `task ${task}: its last result was rejected: ${code}: ${reason}`,
    ),
    ...blocked.map(({ id, reason }) => `task ${id} is blocked${reason === undefined ? '' : `: ${reason}`}`),
    ...(run?.drift ?? []).map(({ message }) => message),
    ...(run?.held === undefined ? [] : [`no task of the plan can go on: ${run.held}`]),
  ];
  return waiting.slice(0, MAX_LISTED).map(said);
}

function said(text: string): string {
  return clipText(oneLine(text), MAX_REASON);
}
