import type { RunStatusReply } from '../../contracts/plan-requests.js';
import type { Figures } from '../../contracts/replies/session-reply.js';
import { replanHint, tasksLeft } from '../../ledger/ledger-entries.js';
import {
  driftOf,
  goneOf,
  leavesOf,
  type PlanOutlook,
  type TaskResults,
  totalsOf,
} from '../../ledger/next-task.js';
import { nextAction, outcomeName, signalsOf, type TaskLedger } from '../../ledger/task-ledger.js';
import { defined } from '../../shared/collections.js';
import { clipText, oneLine } from '../../shared/text.js';
import { leftBy, waitsForPerson } from '../../shared/wire-words.js';
import type { PastResults } from '../search/past-results.js';
import type { Run } from './charter.js';
import { overview } from './commands/lifecycle-commands.js';
import { isForPerson, unread } from './notebook.js';
import {
  asksOf,
  factsOf,
  ledgersOf,
  type Notebook,
  outlook,
  pastOf,
  rejectionsOf,
  type SessionState,
  seenState,
  unreadableTasks,
} from './session-state.js';
import { claimedTasks, isOpen, type Task } from './task-board.js';

export type RunStatus = Omit<RunStatusReply, 'sequence' | 'degraded' | 'lists' | 'task'>;

export function runStatus(state: SessionState): RunStatus {
  return { ...progress(state), findings: openFindings(state, MAX_FINDINGS) };
}

const MAX_FINDINGS = 5;
const MAX_FINDING = 160;

/** Returns the open findings of reviews, the newest first. */
export function openFindings(state: SessionState, most: number): RunStatus['findings'] {
  const valid = factsOf(state).getValid();
  const open = valid.filter(({ relation }) => relation === 'issue' || relation === 'must_fix');
  const lines = open.slice(-most).map(({ subject, object, severity, sourceTaskId }) => {
    const where = subject.startsWith('task:') ? object : `${subject}: ${object}`;
    const origin = `${severity ?? 'must fix'}, task ${sourceTaskId}`;
    return `${clipText(oneLine(where), MAX_FINDING)} (${clipText(oneLine(origin), MAX_FINDING)})`;
  });
  return { total: open.length, newest: lines.reverse() };
}

function progress(state: SessionState): Omit<RunStatus, 'findings'> {
  const seen = seenState(state);
  const { run } = state;
  const ledgers = ledgersOf(state);
  const status = {
    ...overview(seen),
    run: run === undefined ? null : planInNumbers(run, ledgers, outlook(seen)),
    ...(state.charter.unfollowed && { unfollowed: true as const }),
    tasks: [...ledgers.values()].map((ledger) => progressOf(seen, ledger)),
    unreadable: unreadableTasks(rejectionsOf(state)),
  };
  return { ...status, ...needsOf(status, seen) };
}

function planInNumbers(
  { spec, goal, source, version, document }: Run,
  results: TaskResults,
  { nextTaskId, activeTaskId, whyNone }: PlanOutlook,
): NonNullable<RunStatus['run']> {
  const drift = [...driftOf(document.tasks, results), ...goneOf(document, results)];
  const { firstProblems = [], moreProblems = 0 } = document;
  return {
    spec,
    ...(goal !== undefined && { goal }),
    source,
    ...(version && { version }),
    fingerprint: document.fingerprint,
    totals: totalsOf(document.tasks),
    active_task_id: activeTaskId,
    next_task_id: nextTaskId,
    ...(whyNone !== '' && { why_none: whyNone }),
    problems: document.problems,
    guesses: document.guesses ?? 0,
    unnamed: document.unnamed ?? 0,
    ...(firstProblems.length > 0 && { problem_lines: firstProblems }),
    ...(moreProblems > 0 && { more_problems: moreProblems }),
    ...(document.shortened !== undefined && { shortened: document.shortened }),
    ...(drift.length > 0 && { drift }),
  };
}

export function progressOf(state: SessionState, ledger: TaskLedger) {
  const { run, board: onBoard } = state;
  const questions = asksOf(state, ledger.task, ledger);
  const raised = signalsOf(ledger);
  const hint = replanHint(raised);
  const board = onBoard.tasks.get(ledger.task)?.status;
  const plan = run?.document.tasks.find(({ id }) => id === ledger.task)?.status;
  return {
    task: ledger.task,
    ...defined({ board, plan, blocker: ledger.blockers[0] }),
    ...(ledger.summary !== undefined && { summary: clipText(oneLine(ledger.summary), MAX_SUMMARY) }),
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
  const { session, ...status } = progress(state);
  const { rejected, ...read } = session.dispatches;
  const goal = session.goal ?? state.run?.goal;
  return {
    session: state.session,
    status: session.status,
    ...(state.startedAt && { started_at: state.startedAt }),
    ...defined({ project: session.project }),
    ...(session.title !== undefined && { title: oneLine(session.title) }),
    ...(goal !== undefined && { goal: clipText(oneLine(goal), MAX_GOAL) }),
    ...defined({ last: lastWork(state) }),
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

function lastWork(state: SessionState): string | undefined {
  let newest: TaskLedger | undefined;
  for (const ledger of ledgersOf(state).values())
    if (ledger.summary !== undefined && ledger.last.sequence > (newest?.last.sequence ?? 0)) newest = ledger;
  return newest && clippedLine(`${newest.task}: ${newest.summary}`);
}

/** Characters of the summary of a task in a list of all tasks. */
const MAX_SUMMARY = 120;
const MAX_REASON = 300;
const MAX_LISTED = 5;

type Needs = Pick<Figures, 'stalled' | 'waiting' | 'asks' | 'working'>;
type Status = Omit<RunStatusReply, 'sequence' | 'degraded' | 'lists' | 'findings' | keyof Needs>;

/**
 * Returns what needs a person and who works, for every surface: stalled tasks, and what waits: open questions of tasks, then of
 * conversations, messages to a person, halted reviews, unreadable results, blocked tasks, and the plan. A session that is
 * completed or archived needs no one.
 */
function needsOf(status: Status, state: SessionState): Needs {
  const { board, notebook } = state;
  const { session } = status;
  if (session.status !== 'open' || session.archived !== undefined)
    return { stalled: [], waiting: [], asks: [], working: [] };
  const names = new Set(status.tasks.map(({ task }) => task));
  const inTurns = factsOf(state)
    .questionsOfTurns()
    .flatMap(({ ref, sourceTaskId, object: text }) =>
      ref && !names.has(sourceTaskId) ? { task: ref, text } : [],
    );
  const asks = [
    ...status.tasks.flatMap(({ task, questions = [] }) =>
      questions.map(({ text, options = [], default: usual }) => ({
        task,
        text,
        ...(options.length > 0 && { options }),
        ...(usual !== undefined && { default: usual }),
      })),
    ),
    ...inTurns,
  ];
  return {
    stalled: status.tasks
      .filter(({ stalled }) => stalled)
      .slice(-MAX_LISTED)
      .reverse()
      .map(({ task, board, plan, replan_hint = '' }) => ({
        task,
        where: board !== undefined ? 'board' : plan !== undefined ? 'plan' : 'results',
        reason: clippedLine(replan_hint),
      })),
    waiting: waitingFor(status, asks, board.tasks.values(), notebook),
    asks: asks.slice(0, MAX_LISTED),
    working: claimedTasks(board, ledgersOf(state)).slice(0, MAX_LISTED),
  };
}

function waitingFor(
  { tasks, unreadable, run }: Status,
  asks: Figures['asks'],
  board: Iterable<Task>,
  notebook: Notebook,
): string[] {
  const halted = tasks.filter(({ next_action }) => next_action === 'halt_and_escalate');
  const listed = new Set([...halted, ...asks].map(({ task }) => task));
  const blocked = tasks.filter((task) => waitsForPerson(task) && !listed.has(task.task));
  const onBoard = [...board].filter(({ id, status }) => status === 'blocked' && !listed.has(id));
  const waiting = [
    ...asks.map(({ task, text, options, default: usual }) => {
      if (!tasks.some((other) => other.task === task)) return `question ${task}: ${text}`;
      const choice = options === undefined ? '' : ` (${options.join(' | ')})`;
      const until = usual === undefined ? '' : `; it goes on with ${JSON.stringify(usual)}`;
      return `task ${task} asks: ${text}${choice}${until}`;
    }),
    ...unread(notebook)
      .filter(isForPerson)
      .map(({ id, by, content }) => `message ${id}${leftBy(by)}: ${content}`),
    ...halted.map(({ task }) => `task ${task}: its review says that a person must decide`),
    ...unreadable.map(
      ({ task, code, reason }) => `task ${task}: its last result was rejected: ${code}: ${reason}`,
    ),
    ...onBoard.map(({ id, reason }) => isBlocked(id, reason)),
    ...blocked.map(({ task, blocker }) => isBlocked(task, blocker)),
    ...(run?.drift ?? []).flatMap(({ kind, message }) => (kind === 'words_gone' ? [] : message)),
    ...(run?.why_none === undefined ? [] : [`no task of the plan can go on: ${run.why_none}`]),
  ];
  return waiting.slice(0, MAX_LISTED).map(clippedLine);
}

function isBlocked(task: string, why: string | undefined): string {
  return `task ${task} is blocked${why === undefined ? '' : `: ${why}`}`;
}

function clippedLine(text: string): string {
  return clipText(oneLine(text), MAX_REASON);
}

/** Limits in characters: of the whole text, of its files, and of one task. */
const MOST = { all: 400, files: 200, task: 60 };

/** Returns what a session is found by: its first open tasks as `ID`, tab and text, then the newest files, a line each. */
export function workText({ board, run }: SessionState, { rows, paths }: PastResults): string {
  const files = new Set<string>();
  let used = 0;
  for (let at = rows.length - 1; at >= 0 && used < MOST.files; at -= 1)
    for (const id of rows[at]?.files ?? []) {
      const path = paths.paths[id] ?? '';
      if (files.has(path) || used + path.length >= MOST.files) continue;
      files.add(path);
      used += path.length + 1;
    }
  const tasks: string[] = [];
  const onBoard = [...board.tasks.values()].filter(isOpen).map(({ id, content }) => ({ id, text: content }));
  const inPlan = leavesOf(run?.document.tasks ?? []).filter(({ status }) => status !== 'completed');
  for (const { id, text } of [...onBoard, ...inPlan]) {
    const line = `${id}\t${clipText(oneLine(text), MOST.task)}`;
    used += line.length + 1;
    if (used > MOST.all) break;
    tasks.push(line);
  }
  return [...tasks, ...files].join('\n');
}

/** Returns the tasks and files of a work text that each have all words, which are in lower case; undefined for none. */
export function foundInWork(text: string, words: readonly string[]) {
  const lines = text.split('\n').filter((line) => words.every((word) => line.toLowerCase().includes(word)));
  if (lines.length === 0) return undefined;
  const tasks = lines.flatMap((line) => {
    const [id = '', text] = line.split('\t');
    return text === undefined ? [] : [{ id, text }];
  });
  return { tasks, files: lines.filter((line) => line !== '' && !line.includes('\t')) };
}
