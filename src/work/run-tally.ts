import type { Spent } from './plan-run.js';
import type { RunPlanEvent, RunSummary, TaskSummary } from './run-types.js';
import type { WorkTask } from './task-step.js';

type Counted = { -readonly [Key in keyof TaskSummary]: TaskSummary[Key] };

/** Summarises a run from its events. */
export class RunTally {
  readonly #tasks = new Map<string, Counted>();
  #rounds = 0;

  get spent(): Spent {
    const all = [...this.#tasks.values()];
    return { tokens: sum(all.map(({ tokens }) => tokens)), cost: sum(all.map(({ cost }) => cost)) };
  }

  /** Returns true if the run worked on a task or set it aside. */
  has(task: string): boolean {
    return this.#tasks.has(task);
  }

  begin({ id, text }: WorkTask): void {
    if (this.has(id)) return;
    const nothing = { rounds: 0, findings: 0, tokens: 0, cost: 0, ms: 0 };
    this.#tasks.set(id, { task: id, text, outcome: 'open', ...nothing });
  }

  take(event: RunPlanEvent): void {
    const known = 'task' in event ? this.#tasks.get(event.task) : undefined;
    if (known === undefined) return;
    switch (event.type) {
      case 'call-ended':
        known.ms += event.ms;
        known.tokens += event.tokens ?? 0;
        known.cost += event.cost ?? 0;
        break;
      case 'checked':
        known.ms += event.ms;
        break;
      case 'result':
        known.findings += event.findings;
        known.rounds = Math.max(known.rounds, event.round);
        if (event.role === 'implementer') this.#rounds += 1;
        break;
      case 'task-ended':
        known.outcome = event.outcome;
        if (event.why !== undefined) known.why = event.why;
        break;
      default:
    }
  }

  summary(
    rest: Pick<
      RunSummary,
      'session' | 'outcome' | 'why' | 'total' | 'done' | 'questions' | 'ms' | 'proposed'
    >,
  ): RunSummary {
    const tasks = [...this.#tasks.values()];
    const findings = sum(tasks.map((task) => task.findings));
    return { ...rest, tasks, rounds: this.#rounds, findings, ...this.spent };
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}
