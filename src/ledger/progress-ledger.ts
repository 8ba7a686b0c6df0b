import type { Told } from '../contracts/replies/page-fields.js';
import type { planTotals } from '../contracts/replies/session-reply.js';
import type { ProgressTask, TasksDocument, TasksSource } from '../contracts/run-request.js';
import { outlookOf, type PlannedTask, type TaskResults } from './next-task.js';

interface ProgressLedger {
  readonly specName: string;
  readonly taskId: string;
  /** The file, or `(document)` for text sent with the request. */
  readonly sourcePath: string;
  readonly sourceFingerprint: { readonly mtimeMs: number; readonly hash: string };
  readonly totals: ProgressTotals;
  /** The task in progress, else the next one. */
  readonly activeTaskId: string | null;
  readonly currentTask?: CurrentTask;
}

/** The task that the prompt is for. */
interface CurrentTask {
  readonly id: string;
  readonly description: string;
  readonly status: ProgressTask['status'];
  readonly blocked?: true;
  readonly optional?: true;
  /** Unfinished dependencies. */
  readonly waitsFor?: readonly string[];
  readonly prompt?: string;
  readonly requirements?: readonly string[];
}

export type ProgressTotals = Told<typeof planTotals>;

/** Excludes cancelled tasks and groups. */
function countedTasks(tasks: readonly ProgressTask[]): ProgressTask[] {
  return tasks.filter((task) => task.cancelled !== true && task.group !== true);
}

export function totalsOf(tasks: readonly ProgressTask[]): ProgressTotals {
  const counted = countedTasks(tasks);
  const count = (status: ProgressTask['status']) => counted.filter((task) => task.status === status).length;
  return {
    total: counted.length,
    completed: count('completed'),
    inProgress: count('in-progress'),
    pending: count('pending'),
  };
}

export function leavesOf(tasks: readonly ProgressTask[]): ProgressTask[] {
  const parents = new Set(tasks.flatMap((task) => task.parent ?? []));
  return countedTasks(tasks).filter((task) => !parents.has(task.id));
}

/** Builds the run's ledger for one task. `currentTask` is absent if the plan has no such task. */
export function progressLedger(
  run: { readonly spec: string; readonly source: TasksSource; readonly document: TasksDocument },
  taskId: string,
  results?: TaskResults,
): ProgressLedger {
  const { fingerprint, tasks } = run.document;
  const { planned, activeTaskId } = outlookOf(tasks, results);
  const place = planned.find(({ task }) => task.id === taskId);
  return {
    specName: run.spec,
    taskId,
    sourcePath: run.source.kind === 'file' ? run.source.path : '(document)',
    sourceFingerprint: fingerprint,
    totals: totalsOf(tasks),
    activeTaskId,
    ...(place && { currentTask: currentTask(place) }),
  };
}

function currentTask({ task, isBlocked, isOptional, waitsFor }: PlannedTask): CurrentTask {
  const { id, text, status, prompt, requirements } = task;
  return {
    id,
    description: text,
    status,
    ...(isBlocked && { blocked: true }),
    ...(isOptional && { optional: true }),
    ...(waitsFor.length > 0 && { waitsFor }),
    ...(prompt !== undefined && { prompt }),
    ...(requirements !== undefined && { requirements }),
  };
}

/** Names that every plan has, which say nothing about it. */
const USUAL =
  /^(tasks?|plans?|todos?|specs?|changes|docs?|\.kiro|\.spec-workflow|openspec|\.taskmaster|\.cursor|\.|\.\.)$/i;

export function specNameOf(path: string): string {
  const parts = path.split(/[/\\]+/).filter((part) => part !== '');
  const file = parts.pop()?.replace(/\.[^.]*$/, '') ?? '';
  const name = [file, ...parts.reverse()].find((part) => part !== '' && !USUAL.test(part));
  return (name ?? 'plan').slice(0, 200);
}
