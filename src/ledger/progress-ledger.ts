import type { ProgressTask, TasksDocument, TasksSource } from '../contracts/run-request.js';
import { clipText, quoted } from '../shared/text.js';
import type { ParsedTasks } from './tasks-md/parsed-tasks.js';

/** What a `tasks.md` says about a run, seen from one task. */
export interface ProgressLedger {
  readonly specName: string;
  readonly taskId: string;
  /** The file, or `(document)` for one that came with the request. */
  readonly sourcePath: string;
  readonly sourceFingerprint: { readonly mtimeMs: number; readonly hash: string };
  readonly totals: ProgressTotals;
  /** The task in progress, else the first pending one. */
  readonly activeTaskId: string | null;
  readonly currentTask?: {
    readonly id: string;
    readonly description: string;
    readonly status: ProgressTask['status'];
    readonly prompt?: string;
    readonly requirements?: readonly string[];
  };
}

export interface ProgressTotals {
  readonly total: number;
  readonly completed: number;
  readonly inProgress: number;
  readonly pending: number;
}

const MAX_TEXT = 300;
const MAX_PROMPT = 4000;
const MAX_REQUIREMENTS = 20;
/** Characters of all prompts together: beyond them a document keeps its tasks, but not their prompts. */
const MAX_PROMPTS = 200_000;
const MAX_TASKS = 5000;

/** What is kept of a parsed document: bounded, each text one line. */
export function documentOf(
  parsed: Pick<ParsedTasks, 'tasks' | 'problems'>,
  fingerprint: TasksDocument['fingerprint'],
): TasksDocument {
  let prompts = 0;
  const tasks = parsed.tasks.slice(0, MAX_TASKS).map((task): ProgressTask => {
    const prompt = task.prompt === undefined ? undefined : clipText(quoted(task.prompt), MAX_PROMPT);
    prompts += prompt?.length ?? 0;
    return {
      id: task.id,
      text: clipText(quoted(task.text), MAX_TEXT),
      status: task.status,
      ...(task.optional && { optional: true }),
      ...(task.cancelled && { cancelled: true }),
      ...(task.group && { group: true }),
      ...(task.parent !== undefined && { parent: task.parent }),
      ...(prompt !== undefined && prompts <= MAX_PROMPTS && { prompt }),
      ...(task.requirements.length > 0 && { requirements: task.requirements.slice(0, MAX_REQUIREMENTS) }),
    };
  });
  const left = parsed.tasks.length - tasks.length;
  return { fingerprint, tasks, problems: parsed.problems.length + left };
}

/** Tasks that are work of their own: neither given up nor a group of others. */
function countedTasks(tasks: readonly ProgressTask[]): ProgressTask[] {
  return tasks.filter((task) => task.cancelled !== true && task.group !== true);
}

/** Counts by status. */
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

/** The counted tasks without parts of their own. */
export function leavesOf(tasks: readonly ProgressTask[]): ProgressTask[] {
  const parents = new Set(tasks.flatMap((task) => task.parent ?? []));
  return countedTasks(tasks).filter((task) => !parents.has(task.id));
}

/** The task in progress, else the first pending one; of a task with parts, the part. */
export function activeTaskOf(tasks: readonly ProgressTask[]): string | null {
  const leaves = leavesOf(tasks);
  const active =
    leaves.find((task) => task.status === 'in-progress') ?? leaves.find((task) => task.status === 'pending');
  return active?.id ?? null;
}

/** The ledger of a run, seen from one task. `currentTask` is absent when the document has no such task. */
export function progressLedger(
  run: { readonly spec: string; readonly source: TasksSource; readonly document: TasksDocument },
  taskId: string,
): ProgressLedger {
  const { fingerprint, tasks } = run.document;
  const current = tasks.find((task) => task.id === taskId);
  return {
    specName: run.spec,
    taskId,
    sourcePath: run.source.kind === 'file' ? run.source.path : '(document)',
    sourceFingerprint: fingerprint,
    totals: totalsOf(tasks),
    activeTaskId: activeTaskOf(tasks),
    ...(current && {
      currentTask: {
        id: current.id,
        description: current.text,
        status: current.status,
        ...(current.prompt !== undefined && { prompt: current.prompt }),
        ...(current.requirements !== undefined && { requirements: current.requirements }),
      },
    }),
  };
}
