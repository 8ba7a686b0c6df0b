import type { Verdict } from '../../src/contracts/kinds.js';
import { foldDispatch, outcomeName, signalsOf, type TaskLedger } from '../../src/ledger/task-ledger.js';
import { decide, type RunRules, type RunStep } from '../../src/work/plan-run.js';
import type { RunOutcome } from '../../src/work/run-types.js';
import type { WorkTask } from '../../src/work/task-step.js';

/** A task of a played plan. */
export interface PlayedTask {
  readonly id: string;
  readonly dependsOn: readonly string[];
  readonly isOptional: boolean;
  readonly isBlocked: boolean;
}

/** What an agent or a check answers: the same for the same place in the history of a task. */
export type Answers = (task: string, part: 'work' | 'review', results: number) => Verdict;

export interface PlayedStep {
  readonly task: string;
  readonly step: RunStep;
}

/** A session as its ledgers, and a run that is played on it: no services, no agents, no time. */
export class PlayedRun {
  readonly ledgers = new Map<string, TaskLedger>();
  readonly results = new Map<string, { readonly part: 'work' | 'review'; readonly verdict: Verdict }[]>();
  readonly ticked = new Set<string>();
  readonly plan: readonly PlayedTask[];
  readonly answers: Answers;
  /** All steps that have begun. */
  readonly begun: PlayedStep[] = [];
  #sequence = 0;

  constructor(plan: readonly PlayedTask[], answers: Answers) {
    this.plan = plan;
    this.answers = answers;
  }

  tasks(): WorkTask[] {
    const done = new Set(this.plan.filter(({ id }) => this.#isDone(id)).map(({ id }) => id));
    return this.plan.map(({ id, dependsOn, isOptional, isBlocked }) => {
      const ledger = this.ledgers.get(id);
      const all = this.results.get(id) ?? [];
      const since = all.slice(all.findLastIndex(({ verdict }) => verdict === 'approved') + 1);
      const signals = ledger === undefined ? [] : signalsOf(ledger);
      return {
        id,
        text: id,
        from: 'plan',
        isOptional,
        isDone: done.has(id),
        isUnticked: done.has(id) && !this.ticked.has(id),
        ...(isBlocked && { hold: 'blocked' }),
        waitsFor: dependsOn.filter((other) => !done.has(other)),
        questions: [],
        results: all.length,
        ...(ledger !== undefined && { last: outcomeName(ledger.last) }),
        rounds: since.filter(({ part }) => part === 'work').length,
        stall:
          signals.length === 0
            ? 'none'
            : signals.some(({ count, threshold }) => count > threshold)
              ? 'beyond'
              : 'replan',
      };
    });
  }

  /** Runs until it ends. */
  run(rules: RunRules): RunOutcome {
    const closed = new Set<string>();
    const touched = new Set<string>();
    const none = { elsewhere: new Set<string>(), again: new Map<string, number>() };
    for (;;) {
      const spent = { tokens: 0, cost: 0 };
      const decision = decide({ ...none, tasks: this.tasks(), closed, touched, spent }, rules);
      if (decision.kind === 'wait') throw new Error('there is no other run');
      if (decision.kind !== 'step') return decision.outcome;
      touched.add(decision.task.id);
      this.begun.push({ task: decision.task.id, step: decision.step });
      this.#finish(decision.task.id, decision.step, closed);
    }
  }

  #finish(id: string, step: RunStep, closed: Set<string>): void {
    if (step.kind === 'close') {
      this.ticked.add(id);
      closed.add(id);
      return;
    }
    const all = this.results.get(id) ?? [];
    const part = step.kind === 'implement' ? 'work' : 'review';
    const verdict = this.answers(id, part, all.length);
    this.results.set(id, [...all, { part, verdict }]);
    this.#sequence += 1;
    const ledger = foldDispatch(
      this.ledgers.get(id),
      id,
      { sequence: this.#sequence, at: '2026-01-01T00:00:00Z' },
      {
        role: part === 'work' ? 'implementer' : 'reviewer',
        verdict,
        blockers: [],
        files: [],
        passed: [],
        failed: [],
        followUps: [],
        issues: [],
        fixes: verdict === 'needs_changes' ? [`fix ${all.length}`] : [],
      },
    );
    if (ledger !== undefined) this.ledgers.set(id, ledger);
  }

  #isDone(id: string): boolean {
    return this.results.get(id)?.at(-1)?.verdict === 'approved';
  }
}
