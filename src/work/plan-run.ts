import { counted } from '../shared/text.js';
import type { RunOutcome, RunPlanEvent, RunSummary, TaskSummary } from './run-types.js';
import { nextStep, type Step, type WorkTask } from './task-step.js';

/**
 * The scheduler of a run, as a pure function: a run that continues after a kill decides as before. It is called after each
 * step, and decides which step comes next, or that the run has ended. Tasks in progress come first.
 */

export interface RunRules {
  /** Largest number of implementer results of a task without an approval. */
  readonly maxRounds: number;
  readonly tick: boolean;
  readonly maxTokens?: number | undefined;
  readonly maxCost?: number | undefined;
}

/** Usage of all calls of a run, as reported by the agents. */
export interface Spent {
  readonly tokens: number;
  readonly cost: number;
}

interface RunView {
  readonly tasks: readonly WorkTask[];
  /** Tasks that another run works on. */
  readonly elsewhere: ReadonlySet<string>;
  readonly touched: ReadonlySet<string>;
  /** Approved tasks that this run has finished. */
  readonly closed: ReadonlySet<string>;
  /** Tasks that get one more step in spite of a limit, with their number of results when the run began. */
  readonly again: ReadonlyMap<string, number>;
  readonly spent: Spent;
}

/** `close`: finish an approved task. */
export type RunStep = Extract<Step, { kind: 'implement' | 'judge' }> | { readonly kind: 'close' };

export type RunDecision =
  | { readonly kind: 'step'; readonly task: WorkTask; readonly step: RunStep }
  /** Only tasks of other runs are left. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'end'; readonly outcome: RunOutcome; readonly why?: string }
  /** Ends the run as well: half-finished work would be in the way of other tasks. */
  | {
      readonly kind: 'give-up';
      readonly task: WorkTask;
      readonly outcome: 'needed' | 'limit';
      readonly why: string;
    };

export function decide(view: RunView, rules: RunRules): RunDecision {
  const overBudget = budgetUsed(view.spent, rules);
  for (const task of candidates(view, rules)) {
    if (task.isDone) return { kind: 'step', task, step: { kind: 'close' } };
    if (overBudget !== undefined) break;
    const step = nextStep(task, rules.maxRounds, view.again.get(task.id) === task.results);
    if (step.kind === 'implement' || step.kind === 'judge') return { kind: 'step', task, step };
    if (step.kind !== 'wait') return { kind: 'give-up', task, outcome: step.kind, why: step.why };
  }
  const open = view.tasks.filter(({ isDone }) => !isDone);
  if (open.length === 0) return { kind: 'end', outcome: 'done' };
  if (overBudget !== undefined) return { kind: 'end', outcome: 'limit', why: overBudget };
  return view.elsewhere.size > 0 ? { kind: 'wait' } : { kind: 'end', outcome: 'needed', why: reasonOf(open) };
}

/** Returns the tasks that may begin: approved ones that are not closed, ones in progress, and the rest in plan order. */
function candidates({ tasks, elsewhere, touched, closed }: RunView, { tick }: RunRules): WorkTask[] {
  const free = tasks.filter(({ id }) => !elsewhere.has(id));
  const approved = free.filter(
    ({ id, isDone, isUnticked }) => isDone && !closed.has(id) && ((tick && isUnticked) || touched.has(id)),
  );
  const isRequiredOpen = tasks.some(({ isDone, isOptional }) => !isDone && !isOptional);
  const ready = free.filter(
    ({ isDone, hold, waitsFor, isOptional }) =>
      !isDone && hold === undefined && waitsFor.length === 0 && !(isOptional && isRequiredOpen),
  );
  const hasBegun = ({ results }: WorkTask) => results > 0;
  return [...approved, ...ready.filter(hasBegun), ...ready.filter((task) => !hasBegun(task))];
}

function budgetUsed({ tokens, cost }: Spent, { maxTokens, maxCost }: RunRules): string | undefined {
  if (maxTokens !== undefined && tokens >= maxTokens) return `${tokens} of ${maxTokens} tokens are used`;
  if (maxCost !== undefined && cost >= maxCost) return `$${cost.toFixed(2)} of $${maxCost} are used`;
  return undefined;
}

function reasonOf(open: readonly WorkTask[]): string {
  const asking = open.filter(({ question }) => question === 'open').length;
  if (asking > 0) return `${counted(asking, 'task')} ${asking === 1 ? 'waits' : 'wait'} for an answer`;
  const stuck = open.find(({ hold, waitsFor }) => hold !== undefined || waitsFor.length > 0) ?? open[0];
  const why = stuck?.hold === undefined ? ` waits for ${stuck?.waitsFor.join(', ')}` : `: ${stuck.hold}`;
  return `${counted(open.length, 'task')} cannot begin: ${stuck?.id}${why}`;
}

export class RunTally {
  readonly #tasks = new Map<string, { -readonly [Key in keyof TaskSummary]: TaskSummary[Key] }>();
  #rounds = 0;

  get spent(): Spent {
    return { tokens: this.#sum('tokens'), cost: this.#sum('cost') };
  }

  /** Tasks that the run worked on or gave up. */
  get touched(): ReadonlySet<string> {
    return new Set(this.#tasks.keys());
  }

  /** Returns false for a task that has begun before. */
  begin({ id, text }: WorkTask): boolean {
    if (this.#tasks.has(id)) return false;
    const nothing = { rounds: 0, findings: 0, tokens: 0, cost: 0, ms: 0 };
    this.#tasks.set(id, { task: id, text, outcome: 'open', ...nothing });
    return true;
  }

  take(event: RunPlanEvent): void {
    const known = 'task' in event ? this.#tasks.get(event.task) : undefined;
    if (known === undefined) return;
    if ('ms' in event) known.ms += event.ms;
    if (event.type === 'call-ended') {
      known.tokens += event.tokens ?? 0;
      known.cost += event.cost ?? 0;
    }
    if (event.type === 'result') {
      known.findings += event.findings;
      known.rounds = Math.max(known.rounds, event.round);
      if (event.role === 'implementer') this.#rounds += 1;
    }
    if (event.type === 'task-ended') {
      known.outcome = event.outcome;
      if (event.why !== undefined) known.why = event.why;
    }
  }

  summary(rest: Omit<RunSummary, 'tasks' | 'rounds' | 'findings' | keyof Spent>): RunSummary {
    const tasks = [...this.#tasks.values()];
    return { ...rest, tasks, rounds: this.#rounds, findings: this.#sum('findings'), ...this.spent };
  }

  #sum(of: 'tokens' | 'cost' | 'findings'): number {
    return [...this.#tasks.values()].reduce((all, task) => all + task[of], 0);
  }
}
