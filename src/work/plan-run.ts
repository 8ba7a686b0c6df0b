import { counted } from '../shared/text.js';
import { nextStep, type Step, type WorkTask } from './task-step.js';

/**
 * A run of a plan: which steps begin now, which tasks are set aside, and whether the run has ended. It is asked again each
 * time that a step has ended. Pure: a run that goes on after a kill decides as it would have without one.
 *
 * A task that has begun comes before those that have not. No task has two steps at once.
 */

export interface RunRules {
  /** Work results of a task, at most, without an approval. */
  readonly maxRounds: number;
  /** Steps at once, of tasks that do not depend on each other. */
  readonly parallel: number;
  /** What becomes of a task that needs a person, or has used up its rounds: the run ends, or goes on with the others. */
  readonly onStall: 'ask' | 'skip';
  /** Whether lines of the plan are ticked. */
  readonly tick: boolean;
  readonly maxTokens?: number | undefined;
  /** In US dollars. */
  readonly maxCost?: number | undefined;
}

/** What all calls of a run have used, as far as agents say it. */
export interface Spent {
  readonly tokens: number;
  readonly cost: number;
}

/** Why a task is not worked on any more in this run. */
export interface Aside {
  readonly kind: 'needed' | 'limit';
  readonly why: string;
}

interface RunView {
  readonly tasks: readonly WorkTask[];
  /** Tasks with a step that has begun. */
  readonly active: ReadonlySet<string>;
  /** Tasks that another run works on now. */
  readonly elsewhere: ReadonlySet<string>;
  readonly aside: ReadonlyMap<string, Aside>;
  /** Approved tasks for which nothing is left to do in this run: ticked and merged, or not to be. */
  readonly closed: ReadonlySet<string>;
  /** Approved tasks whose work is not merged yet. */
  readonly unmerged: ReadonlySet<string>;
  /** Tasks that were worked on in this run, are approved, and not closed. */
  readonly touched: ReadonlySet<string>;
  /** By task that is to have one more step, whatever keeps it from that: its results when the run began. */
  readonly again: ReadonlyMap<string, number>;
  readonly spent: Spent;
  /** Nothing new is to begin. */
  readonly isStopping: boolean;
}

export type RunStep = Extract<Step, { kind: 'implement' | 'judge' }> | { readonly kind: 'close' };

export type RunOutcome = 'done' | 'needed' | 'limit' | 'stopped';

export interface RunDecision {
  readonly begin: readonly { readonly task: WorkTask; readonly step: RunStep }[];
  readonly setAside: readonly { readonly task: WorkTask; readonly aside: Aside }[];
  /** Set where nothing runs, nothing begins, and nothing that another run works on is waited for. */
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
    else setAside.push({ task, aside: { kind: step.kind, why: step.why } });
  }
  const isWaiting = view.elsewhere.size > 0 && !isOver();
  if (begin.length > 0 || view.active.size > 0 || isWaiting) return { begin, setAside };
  return { begin, setAside, end: endOf(view, setAside, overBudget) };
}

/** What may begin, in this order: what is approved and not closed, what has begun, and the rest as the plan has it. */
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
      // What it needs is approved, and not there yet.
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
