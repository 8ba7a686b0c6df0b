import type { ProgressTask, RunStatusReply } from '../contracts/plan-requests.js';
import type { planTotals } from '../contracts/replies/session-reply.js';
import type { Output } from '../contracts/schema-fields.js';
import { addTo } from '../shared/collections.js';
import type { EarlierPlan } from './kept-ids.js';
import { isAnswered, type TaskLedger } from './task-ledger.js';

/**
 * Decides what can be worked on next, from the plan and the results of its tasks.
 *
 * A task is done if its line is ticked or its last result is an approval, and blocked if its line says so or its
 * last result does, until its questions are answered. Subtasks inherit: they wait for their parent's dependencies, are blocked or optional with it, and are done
 * once it is approved as a whole.
 */

export type TaskResults = ReadonlyMap<
  string,
  Pick<TaskLedger, 'assessment' | 'last' | 'questions' | 'answers'>
>;

const NO_RESULTS: TaskResults = new Map();

export interface PlannedTask {
  readonly task: ProgressTask;
  readonly depth: number;
  /** Has no subtasks, and is neither cancelled nor a group. */
  readonly isWork: boolean;
  readonly isDone: boolean;
  readonly isBlocked: boolean;
  readonly isOptional: boolean;
  readonly waitsFor: readonly string[];
  /** Dependencies that the plan does not have, which are ignored. */
  readonly unknown: readonly string[];
}

export interface PlanOutlook {
  readonly planned: readonly PlannedTask[];
  /** The open tasks that an agent may take: not blocked, claimed or waiting, nor optional while required ones are open. */
  readonly ready: readonly string[];
  /** The first that is ready; `null` if there is none. */
  readonly nextTaskId: string | null;
  /** The task in progress that is neither blocked nor optional too early, else the next one. */
  readonly activeTaskId: string | null;
  /** Explains why open tasks cannot be next: `2 blocked, 1 optional`; empty if they can, or are claimed. */
  readonly whyNone: string;
}

/** Computes the state of a plan from its tasks and results; `isClaimed` is true for a task that an agent works on. */
export function outlookOf(
  tasks: readonly ProgressTask[],
  results: TaskResults = NO_RESULTS,
  isClaimed: (task: string) => boolean = () => false,
): PlanOutlook {
  const planned = plannedTasks(tasks, results);
  const open = planned.filter(({ isWork, isDone }) => isWork && !isDone);
  const isRequiredOpen = open.some(({ isOptional }) => !isOptional);
  const free = open.filter(({ isBlocked, isOptional }) => !isBlocked && !(isOptional && isRequiredOpen));
  const begun = free.filter(({ waitsFor }) => waitsFor.length === 0).map(({ task }) => task.id);
  const ready = begun.filter((id) => !isClaimed(id));
  const [next = null] = ready;
  const active = free.find(({ task }) => task.status === 'in-progress')?.task.id ?? next;
  const whyNone = begun.length === 0 ? whyNoneIsReady(open, free) : '';
  return { planned, ready, nextTaskId: next, activeTaskId: active, whyNone };
}

function whyNoneIsReady(open: readonly PlannedTask[], free: readonly PlannedTask[]): string {
  const blocked = open.filter(({ isBlocked }) => isBlocked).length;
  const optional = open.length - blocked - free.length;
  return [
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(free.length > 0 ? [`${free.length} waiting for others`] : []),
    ...(optional > 0 ? [`${optional} optional`] : []),
  ].join(', ');
}

function plannedTasks(tasks: readonly ProgressTask[], results: TaskResults): PlannedTask[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const done = doneTasks(tasks, results);
  const isParent = new Set(tasks.flatMap(({ parent }) => parent ?? []));
  const placed = new Map<string, PlannedTask>();
  return tasks.map((task) => {
    const above = task.parent === undefined ? undefined : placed.get(task.parent);
    const isDone = done.has(task.id);
    const isFamily = (id: string) => isWithin(byId, id, task.id) || isWithin(byId, task.id, id);
    const dependencies = (task.dependsOn ?? NONE).filter((id) => !isFamily(id));
    const inherited = (above?.waitsFor ?? NONE).filter((id) => !isWithin(byId, task.id, id));
    const waitsFor = [...inherited, ...dependencies.filter((id) => byId.has(id) && !done.has(id))];
    const result = results.get(task.id);
    const saysBlocked = task.blocked === true || (result?.last.verdict === 'blocked' && !isAnswered(result));
    const place: PlannedTask = {
      task,
      depth: above === undefined ? 0 : above.depth + 1,
      isWork: !isParent.has(task.id) && task.cancelled !== true && task.group !== true,
      isDone,
      isBlocked: !isDone && (saysBlocked || above?.isBlocked === true),
      isOptional: task.optional === true || above?.isOptional === true,
      waitsFor: isDone ? NONE : [...new Set(waitsFor)],
      unknown: dependencies.filter((id) => !byId.has(id)),
    };
    placed.set(task.id, place);
    return place;
  });
}

const NONE: readonly string[] = [];

/** Returns the ids of finished tasks. A task with subtasks is done once the required ones are. */
function doneTasks(tasks: readonly ProgressTask[], results: TaskResults): ReadonlySet<string> {
  const done = new Set<string>();
  const parts = new Map<string, ProgressTask[]>();
  for (const task of tasks) {
    const { id, parent, cancelled } = task;
    const isApproved = results.get(id)?.last.verdict === 'approved';
    if (isApproved || (parent !== undefined && done.has(parent))) done.add(id);
    if (parent === undefined || cancelled === true) continue;
    addTo(parts, parent, task);
  }
  // Subtasks come after their parent.
  for (const { id, status, cancelled } of [...tasks].reverse()) {
    const required = (parts.get(id) ?? []).filter(({ optional }) => optional !== true);
    const isDone = required.length > 0 ? required.every((part) => done.has(part.id)) : status === 'completed';
    if (cancelled === true || isDone) done.add(id);
  }
  return done;
}

function isWithin(byId: ReadonlyMap<string, ProgressTask>, id: string, whole: string): boolean {
  const seen = new Set<string>();
  for (let at: string | undefined = id; at !== undefined && !seen.has(at); at = byId.get(at)?.parent) {
    if (at === whole) return true;
    seen.add(at);
  }
  return false;
}

export type PlanDrift = NonNullable<NonNullable<RunStatusReply['run']>['drift']>[number];

export function driftOf(tasks: readonly ProgressTask[], results: TaskResults): PlanDrift[] {
  return tasks.flatMap(({ id, status, cancelled, group, was }): PlanDrift[] => {
    const result = results.get(id);
    if (result === undefined || cancelled === true) return [];
    if (result.last.verdict === 'approved' && status !== 'completed') {
      const what =
        group === true
          ? 'its parts are not ticked in the plan: tick their lines'
          : was === undefined
            ? 'it is not ticked in the plan: tick its line'
            : `it said "${was}" when its first result came, and it is not ticked in the plan: tick its line if the approval still holds`;
      return [{ task: id, kind: 'approved_but_open', message: `task ${id} is approved, but ${what}` }];
    }
    if (result.assessment === 'needs_changes' && status === 'completed') {
      const message = `task ${id} is ticked, but its last review says needs_changes: open its line until it is approved`;
      return [{ task: id, kind: 'ticked_but_needs_changes', message }];
    }
    return [];
  });
}

const MOST_GONE = 10;

/** Returns the newest tasks that the plan has under this id no more, and with them their results. */
export function goneOf({ tasks, left = [] }: EarlierPlan, results: TaskResults): PlanDrift[] {
  return left
    .flatMap(({ id, text, written = id }): PlanDrift[] => {
      const result = results.get(id);
      const other = tasks.find((task) => task.text === text);
      if (result === undefined || other?.status === 'completed') return [];
      const where =
        other === undefined
          ? 'no task has these words now, so its results do not count'
          : `these words are task ${other.id} now, and its results do not count there: tick the line if it is done`;
      const now = tasks.find((task) => task.written === written)?.id;
      const instead = now === undefined ? '' : `; ${written} in the file is now ${now}`;
      const { role, verdict } = result.last;
      const message = `${id} was: ${text} (${role} ${verdict}): ${where}${instead}`;
      return [{ task: id, kind: 'words_gone', message }];
    })
    .slice(-MOST_GONE);
}

function countedTasks(tasks: readonly ProgressTask[]): ProgressTask[] {
  return tasks.filter((task) => task.cancelled !== true && task.group !== true);
}

export function totalsOf(tasks: readonly ProgressTask[]): Output<typeof planTotals> {
  const counted = countedTasks(tasks);
  const count = (status: ProgressTask['status']) => counted.filter((task) => task.status === status).length;
  const [completed, inProgress, pending] = [count('completed'), count('in-progress'), count('pending')];
  return { total: counted.length, completed, inProgress, pending };
}

export function leavesOf(tasks: readonly ProgressTask[]): ProgressTask[] {
  const parents = new Set(tasks.flatMap((task) => task.parent ?? []));
  return countedTasks(tasks).filter((task) => !parents.has(task.id));
}

/** Names that every plan has, which say nothing about it. */
const USUAL =
  /^(tasks?|plans?|todos?|specs?|changes|docs?|\.kiro|\.spec-workflow|openspec|\.cursor|\.|\.\.)$/i;

export function specNameOf(path: string): string {
  const parts = path.split(/[/\\]+/).filter((part) => part !== '');
  const file = parts.pop()?.replace(/\.[^.]*$/, '') ?? '';
  const name = [file, ...parts.reverse()].find((part) => part !== '' && !USUAL.test(part));
  return (name ?? 'plan').slice(0, 200);
}
