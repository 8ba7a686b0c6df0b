import type { Figures } from '../contracts/replies/session-list-reply.js';
import { clipText, oneLine } from '../shared/text.js';
import { overview } from './commands/lifecycle-commands.js';
import { type RunStatus, runStatus } from './run-status.js';
import { seenState } from './seen-state.js';
import type { SessionState } from './session-state.js';
import type { Task } from './task-board.js';

/** A session in figures, as a list of sessions shows it. */

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

/** What only a person can settle: first what a review asks of one, then results that could not be read, then the rest. */
function waitingFor({ tasks, unreadable, run }: RunStatus, board: Iterable<Task>): string[] {
  const halted = tasks.filter(({ next_action }) => next_action === 'halt_and_escalate');
  const isHalted = (id: string) => halted.some(({ task }) => task === id);
  const blocked = [...board].filter(({ id, status }) => status === 'blocked' && !isHalted(id));
  const waiting = [
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
