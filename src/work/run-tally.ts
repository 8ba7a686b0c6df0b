import type { Spent } from './plan-run.js';
import type { RunPlanEvent, RunSummary, TaskSummary } from './run-types.js';
import type { WorkTask } from './task-step.js';

type Counted = { -readonly [Key in keyof TaskSummary]: TaskSummary[Key] };

/** Summarises a run from its events. */
export class RunTally {
  readonly #tasks = new Map<string, Counted>();
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

  /** Adds the totals of the run. */
  summary(rest: Omit<RunSummary, 'tasks' | 'rounds' | 'findings' | keyof Spent>): RunSummary {
    const tasks = [...this.#tasks.values()];
    return { ...rest, tasks, rounds: this.#rounds, findings: this.#sum('findings'), ...this.spent };
  }

  #sum(of: 'tokens' | 'cost' | 'findings'): number {
    return [...this.#tasks.values()].reduce((all, task) => all + task[of], 0);
  }
}
