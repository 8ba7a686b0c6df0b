import type { RunStatusReply } from '../../contracts/replies/run-reply.js';
import type { Figures } from '../../contracts/replies/session-reply.js';
import { waitsForPerson } from '../../shared/person-needed.js';
import { clipText, oneLine } from '../../shared/text.js';
import { isForPerson, type Notebook, unread } from './notebook.js';
import { claimedTasks, type Task, type TaskBoard } from './task-board.js';

const MAX_REASON = 300;
const MAX_LISTED = 5;

type Needs = Pick<Figures, 'stalled' | 'waiting' | 'asks' | 'working'>;
type Status = Omit<RunStatusReply, 'sequence' | 'degraded' | 'lists' | 'findings' | keyof Needs>;

/**
 * Returns what needs a person and who works, in one place for the list of sessions, the status of a session, its log, and the inspector: stalled tasks,
 * and what waits: open questions first, then messages to a person, halted reviews, unreadable results, blocked tasks, and the
 * plan. A session that is completed or archived needs no one.
 */
export function needsOf(status: Status, board: TaskBoard, notebook: Notebook): Needs {
  const { session } = status;
  if (session.status !== 'open' || session.archived !== undefined)
    return { stalled: [], waiting: [], asks: [], working: [] };
  const asks = status.tasks.flatMap(({ task, questions = [] }) =>
    questions.map(({ text, options = [], default: usual }) => ({
      ...{ task, text, ...(options.length > 0 && { options }) },
      ...(usual !== undefined && { default: usual }),
    })),
  );
  return {
    stalled: stalledTasks(status),
    waiting: waitingFor(status, asks, board.tasks.values(), notebook),
    asks: asks.slice(0, MAX_LISTED),
    working: claimedTasks(board).slice(0, MAX_LISTED),
  };
}

function stalledTasks({ tasks }: Status): Figures['stalled'] {
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

function waitingFor(
  { tasks, unreadable, run }: Status,
  asks: Figures['asks'],
  board: Iterable<Task>,
  notebook: Notebook,
): string[] {
  const halted = tasks.filter(({ next_action }) => next_action === 'halt_and_escalate');
  const told = new Set([...halted, ...asks].map(({ task }) => task));
  const blocked = tasks.filter((each) => waitsForPerson(each) && !told.has(each.task));
  const onBoard = [...board].filter(({ id, status }) => status === 'blocked' && !told.has(id));
  const waiting = [
    ...asks.map(({ task, text, default: usual }) => `task ${task} asks: ${text}${goesOn(usual)}`),
    ...unread(notebook)
      .filter(isForPerson)
      .map(({ id, content }) => `message ${id}: ${content}`),
    ...halted.map(({ task }) => `task ${task}: its review says that a person must decide`),
    ...unreadable.map(
      ({ task, code, reason }) => `task ${task}: its last result was rejected: ${code}: ${reason}`,
    ),
    ...onBoard.map(({ id, reason }) => `task ${id} is blocked${reason === undefined ? '' : `: ${reason}`}`),
    ...blocked.map(({ task }) => `task ${task} is blocked: "throughline status --task ${task}" shows why`),
    ...(run?.drift ?? []).map(({ message }) => message),
    ...(run?.held === undefined ? [] : [`no task of the plan can go on: ${run.held}`]),
  ];
  return waiting.slice(0, MAX_LISTED).map(said);
}

function goesOn(usual: string | undefined): string {
  return usual === undefined ? '' : `; it goes on with ${JSON.stringify(usual)}`;
}

function said(text: string): string {
  return clipText(oneLine(text), MAX_REASON);
}
