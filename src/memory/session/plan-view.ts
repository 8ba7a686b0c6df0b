import type { ListName, PLAN_STATUSES, PlanTaskView, RunStatusReply } from '../../contracts/plan-requests.js';
import { ledgerEntries } from '../../ledger/ledger-entries.js';
import type { PlannedTask } from '../../ledger/next-task.js';
import { defined } from '../../shared/collections.js';
import { nearIdsHint } from '../../shared/nearest-name.js';
import { oneLine } from '../../shared/text.js';
import { idInPlan } from './charter.js';
import { shown } from './commands/task-commands.js';
import { notesOf } from './notebook.js';
import { progressOf } from './plan-status.js';
import {
  ledgersOf,
  outlook,
  rejectionsOf,
  type SessionState,
  seenState,
  unreadableResult,
  unreadOf,
} from './session-state.js';
import { claimOf, isOpen } from './task-board.js';

function planTasks(state: SessionState, status?: PlanStatus): PlanTaskView[] {
  const seen = seenState(state);
  return outlook(seen)
    .planned.filter((plannedTask) => status === undefined || statusOf(plannedTask) === status)
    .map((plannedTask) => taskView(seen, plannedTask, false));
}

type PlanStatus = (typeof PLAN_STATUSES)[number];

/** Blocked and cancelled take precedence over the status of the line. */
function statusOf({ task, isBlocked }: PlannedTask): PlanStatus {
  if (task.cancelled === true) return 'cancelled';
  return isBlocked ? 'blocked' : task.status;
}

function taskView(
  state: SessionState,
  { task, depth, isBlocked, isOptional, waitsFor, unknown }: PlannedTask,
  isWhole: boolean,
): PlanTaskView {
  const { id, text, status, written, parent, group, cancelled, reason, dependsOn, requirements, prompt } =
    task;
  const known = state.run?.document.requirementTexts ?? {};
  const texts = (requirements ?? []).filter((requirement) => Object.hasOwn(known, requirement));
  const ledger = ledgersOf(state).get(id);
  const progress = ledger && progressOf(state, ledger);
  const { claimed_by } = claimOf(state.board, id);
  return {
    id,
    text,
    depth,
    status,
    ...defined({ written, parent, group, reason, cancelled, depends_on: dependsOn }),
    ...(isBlocked && { blocked: true }),
    ...(isOptional && { optional: true }),
    ...(waitsFor.length > 0 && { waits_for: waitsFor }),
    ...(unknown.length > 0 && { unknown_dependencies: unknown }),
    ...(isWhole && requirements !== undefined && { requirements }),
    ...(isWhole &&
      texts.length > 0 && {
        requirement_texts: Object.fromEntries(texts.map((text) => [text, known[text] ?? ''])),
      }),
    ...(isWhole && prompt !== undefined && { prompt }),
    ...defined({ claimed_by }),
    ...(progress && {
      last_outcome: progress.last_outcome,
      next_action: progress.next_action,
      dispatches: progress.dispatches,
    }),
  };
}

/** Each of several lists is bounded so: five of them leave half of a message for the rest of the reply. */
const MOST = { items: 200, bytes: 100_000 };
const WHOLE = { items: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

/** Returns the lists of a session as one reply can hold them. One alone is whole: if it is too large, the reply is refused. */
export function sessionLists(state: SessionState, names: readonly ListName[], status?: PlanStatus) {
  const { board, notebook, history } = seenState(state);
  const left_out: Partial<Record<ListName, number>> = {};
  const most = names.length === 1 ? WHOLE : MOST;
  /** Keeps the items of the lowest ranks, in their order. */
  const fitting = <Item>(
    name: ListName,
    itemsOf: () => readonly Item[],
    rank: (item: Item, index: number) => number,
  ): Item[] => {
    const items = names.includes(name) ? itemsOf() : [];
    let bytes = 0;
    const kept = items
      .map((item, index) => ({ item, index, rank: rank(item, index) }))
      .sort((a, b) => a.rank - b.rank)
      .slice(0, most.items)
      .filter(({ item }) => {
        bytes += Buffer.byteLength(JSON.stringify(item));
        return bytes <= most.bytes;
      });
    if (kept.length < items.length) left_out[name] = items.length - kept.length;
    return kept.sort((a, b) => a.index - b.index).map(({ item }) => item);
  };
  const newest = (_: unknown, index: number) => -index;
  const tasks = () => [...board.tasks.values()].map((task) => shown(board, task));
  const planned = () => planTasks(state, status);
  const messages = () => [...notebook.inbox.values()];
  return {
    board: fitting('board', tasks, (task, index) => (isOpen(task) ? index : 1e6 - index)),
    plan: fitting('plan', planned, (task, index) => (task.status === 'completed' ? 1e6 + index : index)),
    iterations: fitting('iterations', () => history.iterations, newest),
    notes: fitting('notes', () => [...notesOf(state).values()], newest),
    messages: fitting('messages', messages, ({ read }, index) => (read ? 1e6 - index : -index)),
    left_out,
  };
}

/** Returns what is known of a task: its ledger entries and its words on board and plan. A remark for an unknown task. */
export function taskShown(state: SessionState, given: string): NonNullable<RunStatusReply['task']> {
  const seen = seenState(state);
  const { run } = state;
  const id = idInPlan(run, given);
  const ledgers = ledgersOf(state);
  const rejections = rejectionsOf(state);
  const planned = outlook(seen).planned.find(({ task }) => task.id === id);
  const onBoard = seen.board.tasks.get(id.toUpperCase());
  const unread = unreadOf(rejections, id);
  const hasResult = unread !== undefined || ledgers.has(id);
  const isStray = planned === undefined && onBoard === undefined && !(hasResult && run === undefined);
  const known = [
    ...(run?.document.tasks.map((task) => task.id) ?? []),
    ...seen.board.tasks.keys(),
    ...ledgers.keys(),
    ...rejections.flatMap((rejection) => rejection.task ?? []),
  ].filter((other) => other !== id);
  const what = hasResult ? 'neither plan nor board has' : 'nothing is known about';
  const remark = isStray && `${what} task ${oneLine(id)}${oneLine(nearIdsHint(id, new Set(known)))}`;
  if (remark !== false && !hasResult) return { id, entries: {}, remark };
  const unreadable = unread && unreadableResult(unread);
  return {
    id,
    ...(remark !== false && { remark }),
    entries: { ...ledgerEntries(ledgers.get(id), run?.document, unreadable, ledgers) },
    ...(onBoard !== undefined && { board: shown(seen.board, onBoard) }),
    ...(planned !== undefined && {
      plan: taskView(seen, planned, true),
      ...(run?.document.preamble !== undefined && { preamble: run.document.preamble }),
    }),
  };
}
