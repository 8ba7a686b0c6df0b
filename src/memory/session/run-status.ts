import type { RunStatusReply } from '../../contracts/replies/run-reply.js';
import type { Figures } from '../../contracts/replies/session-reply.js';
import { replanHint, tasksLeft } from '../../ledger/ledger-entries.js';
import { driftOf, type PlanOutlook, type TaskResults } from '../../ledger/next-task.js';
import { totalsOf } from '../../ledger/progress-ledger.js';
import { nextAction, outcomeName, signalsOf, type TaskLedger } from '../../ledger/task-ledger.js';
import { clipText, oneLine } from '../../shared/text.js';
import type { SessionFact } from '../facts/fact-types.js';
import { resolvedSettings } from './charter.js';
import { overview } from './commands/lifecycle-commands.js';
import { unreadableTasks } from './known-rejections.js';
import { needsOf } from './needs.js';
import type { Run } from './session-run.js';
import {
  factsOf,
  ledgersOf,
  outlook,
  pastOf,
  rejectionsOf,
  type SessionState,
  seenState,
} from './session-state.js';
import { workText } from './work-text.js';

export type RunStatus = Omit<RunStatusReply, 'sequence' | 'degraded' | 'lists'>;
export type TaskProgress = RunStatus['tasks'][number];

export function runStatus(state: SessionState): RunStatus {
  return { ...progress(state), findings: openFindings(state, MAX_FINDINGS) };
}

const MAX_FINDINGS = 5;
const MAX_FINDING = 160;

/** Returns what reviews found and nobody has closed, the newest first. */
export function openFindings(state: SessionState, most: number): RunStatus['findings'] {
  const open = factsOf(state)
    .getValid()
    .filter(({ relation }) => relation === 'issue' || relation === 'must_fix');
  return { total: open.length, newest: open.slice(-most).reverse().map(findingLine) };
}

function findingLine({ subject, object, severity, sourceTaskId }: SessionFact): string {
  const where = subject.startsWith('task:') ? object : `${subject}: ${object}`;
  const origin = `${severity ?? 'must fix'}, task ${sourceTaskId}`;
  return `${clipText(oneLine(where), MAX_FINDING)} (${clipText(oneLine(origin), MAX_FINDING)})`;
}

function progress(state: SessionState): Omit<RunStatus, 'findings'> {
  const seen = seenState(state);
  const { run } = state;
  const ledgers = ledgersOf(state);
  const status = {
    ...overview(seen),
    run: run === undefined ? null : planInNumbers(run, ledgers, outlook(seen)),
    tasks: [...ledgers.values()].map((ledger) => progressOf(seen, ledger)),
    unreadable: unreadableTasks(rejectionsOf(state)),
  };
  return { ...status, ...needsOf(status, seen.board, seen.notebook) };
}

export function planInNumbers(
  { spec, goal, source, document }: Run,
  results: TaskResults,
  { nextTaskId, activeTaskId, whyNone }: PlanOutlook,
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
    rounds: ledger.approvalLoops,
    findings: ledger.issues.length + ledger.requiredFixes.length,
    blockers: ledger.blockers.length,
    last_dispatch: ledger.last.sequence,
    ...(questions.length > 0 && { questions }),
    stalled: raised.length > 0,
    ...(hint !== undefined && { replan_hint: hint }),
  };
}

const MAX_GOAL = 300;

export function sessionFigures(state: SessionState): Figures {
  const seen = seenState(state);
  const { session } = overview(seen);
  const status = progress(state);
  const { rejected, ...read } = session.dispatches;
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
    stalled: status.stalled,
    waiting: status.waiting,
    asks: status.asks,
    working: status.working,
    unread: session.unread,
    work: workText(seen, pastOf(state)),
  };
}
