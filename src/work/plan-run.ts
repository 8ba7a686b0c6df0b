import { counted } from '../shared/text.js';
import { nextStep, type Step, type WorkTask } from './task-step.js';

/**
 * The scheduler of a run, as a pure function: a run that resumes after a kill decides as before. It is called after each step,
 * and decides which steps begin, which tasks are set aside, and if the run has ended. Tasks in progress come first. No task has
 * two steps at once.
 */

export interface RunRules {
  /** Largest number of implementer results of a task without an approval. */
  readonly maxRounds: number;
  /** Steps at once, of tasks that do not depend on each other. */
  readonly parallel: number;
  /** When a task needs a person, or has used up its rounds: `ask` ends the run, `skip` continues with the others. */
  readonly onStall: 'ask' | 'skip';
  /** True to tick lines of the plan. */
  readonly tick: boolean;
  readonly maxTokens?: number | undefined;
  /** In US dollars. */
  readonly maxCost?: number | undefined;
}

/** Usage of all calls of a run, as reported by the agents. */
export interface Spent {
  readonly tokens: number;
  readonly cost: number;
}

/** A task that this run no longer works on. */
export interface Aside {
  readonly kind: 'needed' | 'limit';
  readonly why: string;
}

interface RunView {
  readonly tasks: readonly WorkTask[];
  /** Tasks with a running step. */
  readonly active: ReadonlySet<string>;
  /** Tasks that another run works on. */
  readonly elsewhere: ReadonlySet<string>;
  readonly aside: ReadonlyMap<string, Aside>;
  /** Approved tasks that are ticked and merged, or need neither. */
  readonly closed: ReadonlySet<string>;
  /** Approved tasks whose work is not merged yet. */
  readonly unmerged: ReadonlySet<string>;
  /** Approved tasks of this run that are not closed. */
  readonly touched: ReadonlySet<string>;
  /** Tasks that get one more step in spite of a limit, with their number of results when the run began. */
  readonly again: ReadonlyMap<string, number>;
  readonly spent: Spent;
  /** True if no step may begin. */
  readonly isStopping: boolean;
}

export type RunStep = Extract<Step, { kind: 'implement' | 'judge' }> | { readonly kind: 'close' };

export type RunOutcome = 'done' | 'needed' | 'limit' | 'stopped';

export interface RunDecision {
  readonly begin: readonly { readonly task: WorkTask; readonly step: RunStep }[];
  readonly setAside: readonly { readonly task: WorkTask; readonly aside: Aside }[];
  /** Set if no step runs or begins, and no task of another run is awaited. */
  readonly end?: { readonly outcome: RunOutcome; readonly why?: string };
}

export function decide(view: RunView, rules: RunRules): RunDecision {
  const begin: { task: WorkTask; step: RunStep }[] = [];
  const setAside: { task: WorkTask; aside: Aside }[] = [];
  const overBudget = budgetUsed(view.spent, rules);
  const isOver = () =>
    view.isStopping ||
    overBudget !== undefined ||
    (rules.onStall === 'ask' && view.aside.size + setAside.length > 0);
  for (const task of candidates(view, rules)) {
    if (view.active.size + begin.length >= rules.parallel) break;
    if (task.isDone) {
      if (!view.isStopping) begin.push({ task, step: { kind: 'close' } });
      continue;
    }
    if (isOver()) break;
    const step = nextStep(task, rules.maxRounds, view.again.get(task.id) === task.results);
    if (step.kind === 'implement' || step.kind === 'judge') begin.push({ task, step });
    else if (step.kind !== 'wait') setAside.push({ task, aside: { kind: step.kind, why: step.why } });
  }
  const isWaiting = view.elsewhere.size > 0 && !isOver();
  if (begin.length > 0 || view.active.size > 0 || isWaiting) return { begin, setAside };
  return { begin, setAside, end: endOf(view, setAside, overBudget) };
}

/** Returns the tasks that may begin: approved ones that are not closed, ones in progress, and the rest in plan order. */
function candidates(view: RunView, { tick }: RunRules): WorkTask[] {
  const { tasks, active, elsewhere, aside, closed, unmerged, touched } = view;
  const isFree = ({ id }: WorkTask) => !active.has(id) && !aside.has(id) && !elsewhere.has(id);
  const approved = tasks.filter(
    (task) =>
      task.isDone &&
      isFree(task) &&
      !closed.has(task.id) &&
      ((tick && task.isUnticked) || unmerged.has(task.id) || touched.has(task.id)),
  );
  const open = tasks.filter(({ isDone }) => !isDone);
  const isRequiredOpen = open.some(({ isOptional }) => !isOptional);
  const ready = open.filter(
    (task) =>
      isFree(task) &&
      task.hold === undefined &&
      task.waitsFor.length === 0 &&
      // An approved dependency that is not merged is not in the working tree yet.
      !task.dependsOn.some((id) => unmerged.has(id)) &&
      !(task.isOptional && isRequiredOpen),
  );
  const hasBegun = ({ results }: WorkTask) => results > 0;
  return [...approved, ...ready.filter(hasBegun), ...ready.filter((task) => !hasBegun(task))];
}

function budgetUsed({ tokens, cost }: Spent, { maxTokens, maxCost }: RunRules): string | undefined {
  if (maxTokens !== undefined && tokens >= maxTokens) return `${tokens} of ${maxTokens} tokens are used`;
  if (maxCost !== undefined && cost >= maxCost) return `$${cost.toFixed(2)} of $${maxCost} are used`;
  return undefined;
}

function endOf(
  { tasks, aside, isStopping }: RunView,
  setAside: RunDecision['setAside'],
  overBudget: string | undefined,
): NonNullable<RunDecision['end']> {
  const open = tasks.filter(({ isDone }) => !isDone);
  const asides = [...aside.values(), ...setAside.map((each) => each.aside)];
  if (open.length === 0 && asides.length === 0) return { outcome: 'done' };
  if (isStopping) return { outcome: 'stopped' };
  if (asides.some(({ kind }) => kind === 'needed')) return { outcome: 'needed' };
  if (overBudget !== undefined) return { outcome: 'limit', why: overBudget };
  if (asides.length > 0) return { outcome: 'limit' };
  const asking = open.filter(({ asked }) => asked === 'open').length;
  if (asking > 0)
    return {
      outcome: 'needed',
      why: `${counted(asking, 'task')} ${asking === 1 ? 'waits' : 'wait'} for an answer`,
    };
  return { outcome: 'needed', why: `${counted(open.length, 'task')} cannot begin: ${heldBy(open)}` };
}

function heldBy(open: readonly WorkTask[]): string {
  const held = open.find(({ hold }) => hold !== undefined);
  if (held !== undefined) return `${held.id}: ${held.hold}`;
  const waiting = open.find(({ waitsFor }) => waitsFor.length > 0);
  return waiting === undefined
    ? 'nothing is ready'
    : `${waiting.id} waits for ${waiting.waitsFor.join(', ')}`;
}
