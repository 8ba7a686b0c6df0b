import type { LedgerShown, planShown, RunStatusReply } from '../../contracts/replies/run-reply.js';
import type { ToolArguments } from '../../contracts/requests.js';
import type { Output } from '../../contracts/schema-fields.js';
import { ledgerEntries } from '../../ledger/ledger-entries.js';
import type { PlannedTask } from '../../ledger/next-task.js';
import { nearIdsHint } from '../../shared/nearest-name.js';
import { oneLine } from '../../shared/text.js';
import { idInPlan, resolvedSettings } from './charter.js';
import { shown } from './commands/task-commands.js';
import { unreadableResult, unreadOf } from './known-rejections.js';
import { notesOf } from './notebook.js';
import { planInNumbers, progressOf } from './run-status.js';
import { ledgersOf, outlook, rejectionsOf, type SessionState, seenState } from './session-state.js';
import { claimOf, isOpen } from './task-board.js';

/** The plan of a session with the results of each task: the reply of `plan-show`. */
export type PlanView = Omit<Output<typeof planShown>, 'sequence' | 'degraded'>;

/** A task of a plan with its results. */
export type PlanTaskView = PlanView['tasks'][number];

/** Builds the plan view, for all tasks or those that the request selects. */
export function planView(state: SessionState, { id, status }: ToolArguments<'plan-show'>): PlanView {
  const { run } = state;
  if (run === undefined) return { plan: null, tasks: [], problems: [] };
  const seen = seenState(state);
  const ledgers = ledgersOf(state);
  const { document } = run;
  const ahead = outlook(seen);
  const asked = ahead.planned.filter(
    (each) => (id === undefined || each.task.id === id) && (status === undefined || stateOf(each) === status),
  );
  const { firstProblems = [], moreProblems = 0 } = document;
  return {
    plan: planInNumbers(run, ledgers, ahead),
    tasks: asked.map((each) => taskView(seen, each, id !== undefined)),
    problems: firstProblems,
    ...(id !== undefined && document.preamble !== undefined && { preamble: document.preamble }),
    ...(moreProblems > 0 && { more_problems: moreProblems }),
    ...(document.shortened !== undefined && { shortened: document.shortened }),
  };
}

/** Blocked and cancelled take precedence over the status of the line. */
function stateOf({ task, isBlocked }: PlannedTask): NonNullable<ToolArguments<'plan-show'>['status']> {
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
  const texts = (requirements ?? []).filter((each) => Object.hasOwn(known, each));
  const ledger = ledgersOf(state).get(id);
  const came = ledger && progressOf(state, ledger);
  const { claimed_by } = claimOf(state.board, id);
  return {
    id,
    text,
    depth,
    status,
    ...(written !== undefined && { written }),
    ...(parent !== undefined && { parent }),
    ...(group && { group }),
    ...(isBlocked && { blocked: true }),
    ...(reason !== undefined && { reason }),
    ...(isOptional && { optional: true }),
    ...(cancelled && { cancelled }),
    ...(dependsOn !== undefined && { depends_on: dependsOn }),
    ...(waitsFor.length > 0 && { waits_for: waitsFor }),
    ...(unknown.length > 0 && { unknown_dependencies: unknown }),
    ...(isWhole && requirements !== undefined && { requirements }),
    ...(isWhole &&
      texts.length > 0 && {
        requirement_texts: Object.fromEntries(texts.map((each) => [each, known[each] ?? ''])),
      }),
    ...(isWhole && prompt !== undefined && { prompt }),
    ...(claimed_by !== undefined && { claimed_by }),
    ...(came && {
      last_outcome: came.last_outcome,
      next_action: came.next_action,
      dispatches: came.dispatches,
    }),
  };
}

const MAX_LISTED = 200;
/** Five lists of this many bytes of JSON leave half of a message for the rest of the reply. */
const MAX_LIST_BYTES = 100_000;

/** Returns the lists of a session as one reply can hold them. */
export function sessionLists(state: SessionState): NonNullable<RunStatusReply['lists']> {
  const { board, notebook, history } = seenState(state);
  const left_out: Partial<Record<'board' | 'plan' | 'iterations' | 'notes' | 'messages', number>> = {};
  /** Keeps the items of the lowest ranks, in their order. */
  const fitting = <Item>(
    name: keyof typeof left_out,
    items: readonly Item[],
    rank: (item: Item, index: number) => number,
  ): Item[] => {
    let bytes = 0;
    const kept = items
      .map((item, index) => ({ item, index, rank: rank(item, index) }))
      .sort((a, b) => a.rank - b.rank)
      .slice(0, MAX_LISTED)
      .filter(({ item }) => {
        bytes += Buffer.byteLength(JSON.stringify(item));
        return bytes <= MAX_LIST_BYTES;
      });
    if (kept.length < items.length) left_out[name] = items.length - kept.length;
    return kept.sort((a, b) => a.index - b.index).map(({ item }) => item);
  };
  const newest = (_: unknown, index: number) => -index;
  const tasks = [...board.tasks.values()].map((task) => shown(board, task));
  return {
    board: fitting('board', tasks, (task, index) => (isOpen(task) ? index : 1e6 - index)),
    plan: fitting('plan', planView(state, {}).tasks, (task, index) =>
      task.status === 'completed' ? 1e6 + index : index,
    ),
    iterations: fitting('iterations', history.iterations, newest),
    notes: fitting('notes', [...notesOf(state).values()], newest),
    messages: fitting('messages', [...notebook.inbox.values()], ({ read }, index) =>
      read ? 1e6 - index : -index,
    ),
    left_out,
  };
}

/** Returns the ledger entries of a task and of the progress; a remark for an unknown task. */
export function ledgerOf(state: SessionState, asked: string): Omit<LedgerShown, 'sequence'> {
  const task = idInPlan(state.run, asked);
  const ledgers = ledgersOf(state);
  const rejections = rejectionsOf(state);
  const planned = state.run?.document.tasks.map(({ id }) => id) ?? [];
  const known = new Set([...planned, ...ledgers.keys(), ...rejections.flatMap((each) => each.task ?? [])]);
  if (!known.has(task)) {
    const remark = `nothing is known about task ${oneLine(task)}${oneLine(nearIdsHint(task, known))}`;
    return { task, entries: {}, remark };
  }
  const { stallThresholds } = resolvedSettings(state.charter.settings);
  const unread = unreadOf(rejections, task);
  const unreadable = unread && unreadableResult(unread);
  const entries = ledgerEntries(ledgers.get(task), state.run?.document, stallThresholds, unreadable, ledgers);
  return { task, entries: { ...entries } };
}
