import { MAX_IDS } from '../../../contracts/board-requests.js';
import type { taskView } from '../../../contracts/replies/session-reply.js';
import type { ToolArguments } from '../../../contracts/requests.js';
import type { Output } from '../../../contracts/schema-fields.js';
import { defined } from '../../../shared/collections.js';
import { claimedBy } from '../../../shared/wire-words.js';
import { idInPlan } from '../charter.js';
import { ledgersOf, outlook, type SessionState } from '../session-state.js';
import {
  byPriority,
  claimOf,
  cycleThrough,
  holderOf,
  isOpen,
  nextTasks,
  type Task,
  type TaskBoard,
  unresolved,
} from '../task-board.js';
import {
  answer,
  append,
  type Decision,
  full,
  fullText,
  iterationOf,
  MOST,
  type NewEvent,
  type Reply,
  refuse,
  resolveId,
  type Speaker,
  speakerOf,
  stillThere,
  workedIn,
} from './session-decision.js';

const FEWER_TASKS = 'delete some with task-delete';

export function addTask(state: SessionState, args: ToolArguments<'task-add'>): Decision {
  const { board } = state;
  const refusal = refusalOf(board, args.content);
  if (refusal !== undefined) return refusal;
  const double = openDouble(board, args.content);
  if (double !== undefined) return duplicate(double);
  const depends = resolveAll(board, args.dependsOn ?? []);
  if ('refusal' in depends) return depends.refusal;
  const id = `TAS-${board.lastNumber + 1}`;
  const { content, status, priority } = args;
  const words = { content, status, priority, depends_on: depends.ids, ...authorOf(args) };
  return append(
    { type: 'task.added', data: { task: id, ...words, iteration: iterationOf(state) } },
    showing(id),
  );
}

/** A program need not say who speaks: only a person's name means one. */
function authorOf(speaker: Speaker) {
  return speaker.person || speaker.by !== undefined ? { by: speakerOf(speaker) } : {};
}

function refusalOf({ tasks }: TaskBoard, content: string): Decision | undefined {
  return (
    full('tasks', tasks.size, MOST.tasks, FEWER_TASKS) ??
    fullText('tasks', tasks.values(), content, FEWER_TASKS)
  );
}

export function setStatus(state: SessionState, { id, status, reason }: ToolArguments<'task-status'>) {
  return onTask(state, id, (task) => {
    if (task.status === 'cancelled' && status === 'completed')
      return refuse('conflict', `${task.id} was cancelled: ${reopening(task.id)} first`);
    const reopened = !isOpen(task) && isOpen({ ...task, status });
    const double = reopened ? openDouble(state.board, task.content) : undefined;
    if (double !== undefined) return duplicate(double);
    const at = status === 'in_progress' ? workedIn(state) : { iteration: iterationOf(state) };
    return { type: 'task.status', data: { task: task.id, status, ...defined({ reason }), ...at } };
  });
}

export function setPriority(state: SessionState, { id, priority }: ToolArguments<'task-priority'>): Decision {
  return onTask(state, id, (task) => ({
    type: 'task.priority',
    data: { task: task.id, priority, iteration: iterationOf(state) },
  }));
}

export function setContent(state: SessionState, { id, content, ...speaker }: ToolArguments<'task-content'>) {
  const double = openDouble(state.board, content);
  return onTask(state, id, (task) => {
    if (double !== undefined && double.id !== task.id) return duplicate(double);
    const others = [...state.board.tasks.values()].filter((other) => other.id !== task.id);
    const data = { task: task.id, content, ...authorOf(speaker), iteration: iterationOf(state) };
    return fullText('tasks', others, content, FEWER_TASKS) ?? { type: 'task.content', data };
  });
}

export function addDependencies(state: SessionState, { id, dependsOn }: ToolArguments<'task-depends'>) {
  const { board } = state;
  const depends = resolveAll(board, dependsOn);
  if ('refusal' in depends) return depends.refusal;
  return onTask(state, id, (task) => {
    const waitsFor = new Set([...task.depends_on, ...depends.ids]).size;
    if (waitsFor > MAX_IDS && waitsFor > task.depends_on.length) {
      const message = `dependsOn: ${task.id} would wait for ${waitsFor} tasks, the limit is ${MAX_IDS}: let it wait for a task that waits for some of them`;
      return refuse('schema_invalid', message, { fields: ['dependsOn'], length: waitsFor, limit: MAX_IDS });
    }
    const data = { task: task.id, depends_on: depends.ids, iteration: iterationOf(state) };
    return cycleOf(board, task.id, depends.ids) ?? { type: 'task.depends', data };
  });
}

function cycleOf(board: TaskBoard, id: string, dependsOn: readonly string[]): Decision | undefined {
  const cycle = cycleThrough(board, id, dependsOn);
  if (cycle === undefined) return undefined;
  // The details have a long cycle in full.
  const shown = cycle.length <= 12 ? cycle : [...cycle.slice(0, 6), '…', ...cycle.slice(-5)];
  const message = `${id} cannot wait for ${cycle[1]}: it would wait for itself (${shown.join(' → ')})`;
  return refuse('cycle', message, { cycle });
}

export function removeDependencies(state: SessionState, { id, dependsOn }: ToolArguments<'task-undepends'>) {
  return onTask(state, id, (task) => {
    // Resolved among the task's dependencies, so that deleted ones can be removed too.
    const known = new Map(task.depends_on.map((other) => [other, other]));
    const removed: string[] = [];
    for (const other of dependsOn) {
      const resolved = resolveId(known, other, 'dependency', 'TAS');
      if ('refusal' in resolved) return resolved.refusal;
      removed.push(resolved.found);
    }
    const data = { task: task.id, depends_on: removed, iteration: iterationOf(state) };
    return { type: 'task.undepends', data };
  });
}

export function deleteTask(state: SessionState, { id, undo }: ToolArguments<'task-delete'>): Decision {
  const { board } = state;
  const resolved = resolveId(undo ? board.deleted : board.tasks, id, undo ? 'deleted task' : 'task', 'TAS');
  if ('refusal' in resolved) return resolved.refusal;
  const { found } = resolved;
  const data = { task: found.id, ...(undo && { undo }), iteration: iterationOf(state) };
  const event = { type: 'task.deleted', data } as const;
  if (!undo) return append(event, () => ({ task: null, deleted: found.id }));
  const double = isOpen(found) ? openDouble(board, found.content) : undefined;
  if (double !== undefined) return duplicate(double);
  const refusal = cycleOf(board, found.id, found.depends_on) ?? refusalOf(board, found.content);
  return refusal ?? append(event, showing(found.id));
}

/** Returns the next task; `claim` also claims it. An agent gets its claimed task again until it has returned work. */
export function next(state: SessionState, args: Omit<ToolArguments<'task-next'>, 'ttlMs'>): Decision {
  const { board } = state;
  const { claim } = args;
  const given = args.id === undefined ? undefined : boardOrPlan(state, args.id);
  if (given !== undefined && 'refusal' in given) return given.refusal;
  const id = given?.id ?? candidates(state, claim)[0];
  if (id === undefined) return answer(() => ({ task: null }));
  const current = claimOf(board, id);
  if (claim === undefined || current.claimed_by === claim) return answer(showing(id));
  if (current.claimed_by !== undefined) {
    const conflict = `${id} is ${claimedBy(current.claimed_by)} since ${current.claimed_at}`;
    return refuse('conflict', `${conflict}: take another task`);
  }
  const task = board.tasks.get(id);
  if (task !== undefined && !isOpen(task))
    return refuse('conflict', `${id} is ${task.status}: take another task, or ${reopening(id)}`);
  const at = task === undefined ? { iteration: iterationOf(state) } : workedIn(state);
  return append({ type: 'task.claimed', data: { task: id, agent: claim, ...at } }, showing(id));
}

function reopening(id: string): string {
  return `reopen it with "throughline task edit ${id} --status pending"`;
}

/** Returns the tasks that an agent could claim: those it holds, those of the board, the next one of the plan. */
export function candidates(state: SessionState, agent = ''): string[] {
  const { board } = state;
  const ledgers = ledgersOf(state);
  const plan = outlook(state);
  const isOwn = ({ id }: { readonly id: string }) => agent !== '' && holderOf(board, id, ledgers) === agent;
  const claimed = [...board.tasks.values()].filter(isOwn).sort(byPriority);
  const planned = plan.planned
    .filter(({ isDone }) => !isDone)
    .map(({ task }) => task)
    .filter(isOwn);
  return [...[...claimed, ...planned, ...nextTasks(board)].map(({ id }) => id), ...plan.ready];
}

export function boardOrPlan(
  { run, board }: SessionState,
  given: string,
): { readonly id: string } | { readonly refusal: Decision } {
  const id = idInPlan(run, given.trim());
  if (run?.document.tasks.some((task) => task.id === id)) return { id };
  const resolved = resolveId(board.tasks, id, 'task', 'TAS');
  return 'refusal' in resolved ? resolved : resolved.found;
}

export function release(state: SessionState, { id: given, claim, note }: ToolArguments<'task-release'>) {
  const found = boardOrPlan(state, given);
  if ('refusal' in found) return found.refusal;
  const { id } = found;
  const { claimed_by: agent } = claimOf(state.board, id);
  const task = state.board.tasks.get(id);
  if (agent === undefined) return refuse('not_found', `${id} is not claimed`);
  if (claim !== undefined && claim !== agent)
    return refuse('conflict', `${id} is ${claimedBy(agent)}, not by ${claim}`);
  // It keeps who did it.
  if (task !== undefined && !isOpen(task)) return answer(showing(id));
  const data = { task: id, ...(note !== undefined && { agent, note }), iteration: iterationOf(state) };
  return append({ type: 'task.released', data }, showing(id));
}

/** A task as replies show it. */
export type TaskView = Output<typeof taskView>;

export function shown(board: TaskBoard, task: Task): TaskView {
  return { ...task, ...claimOf(board, task.id), unresolved: unresolved(board, task) };
}

function onTask(state: SessionState, id: string, decide: (task: Task) => NewEvent | Decision): Decision {
  const resolved = resolveId(state.board.tasks, id, 'task', 'TAS');
  const ids = [idInPlan(state.run, id.trim()), `#${id.trim()}`];
  const planned = state.run?.document.tasks.find((task) => ids.includes(task.id));
  if ('refusal' in resolved && planned !== undefined) {
    const message = `${planned.id} is a task of the plan, not of the board: publish its result, or tick it in the plan`;
    return refuse('not_found', message, { id });
  }
  if ('refusal' in resolved) return resolved.refusal;
  const decided = decide(resolved.found);
  return 'kind' in decided ? decided : append(decided, showing(resolved.found.id));
}

function showing(id: string): Reply {
  return ({ board, run }) => {
    const planned = run?.document.tasks.find((task) => task.id === id);
    if (planned === undefined) return { task: shown(board, stillThere(board.tasks.get(id), id)) };
    return { task: null, plan: { id, text: planned.text, ...claimOf(board, id) } };
  };
}

function resolveAll(
  board: TaskBoard,
  given: readonly string[],
): { readonly ids: string[] } | { readonly refusal: Decision } {
  const ids = new Set<string>();
  for (const id of given) {
    const resolved = resolveId(board.tasks, id, 'task', 'TAS');
    if ('refusal' in resolved) return resolved;
    ids.add(resolved.found.id);
  }
  return { ids: [...ids] };
}

function openDouble(board: TaskBoard, content: string): Task | undefined {
  const wanted = folded(content);
  return [...board.tasks.values()].find((task) => isOpen(task) && folded(task.content) === wanted);
}

function duplicate({ id, status }: Task): Decision {
  return refuse('duplicate', `${id} has the same content and is ${status}: use that one`, { id });
}

function folded(content: string): string {
  return content.trim().normalize('NFKC').toLowerCase();
}
