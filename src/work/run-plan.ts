import { setTimeout as pause } from 'node:timers/promises';
import { messageOf, ThroughlineError, usageError } from '../contracts/errors.js';
import { type HeldLease, isHeld } from '../engine/ports/lease-store.js';
import { linkedSignal } from '../shared/deadlines.js';
import { followPlan, sessionOfPlan, tickPlan } from './follow-plan.js';
import { decide, type RunRules, type RunStep, RunTally } from './plan-run.js';
import type { RunPlanEvent, RunPlanOptions, RunSummary } from './run-types.js';
import {
  type ClaimTask,
  newHolder,
  type PatientSession,
  patientSession,
  sessionTasks,
  taskLeases,
} from './session-tasks.js';
import { runStep } from './step-runner.js';
import { openQuestionKey, openQuestions, type WorkTask } from './task-step.js';

const DEFAULTS = { maxRounds: 3, timeoutMs: 1_800_000, patienceMs: 120_000 };
/** Tasks whose outcome a session keeps: a run would repeat older ones. */
const MOST_UNTICKED = 300;
/** Interval between claims of tasks that other runs work on, in milliseconds. */
const LOOK_AGAIN_MS = 2000;
/** Consecutive steps of a task without an accepted result before the run fails. */
const MOST_IN_VAIN = 3;

/**
 * Runs a plan with agents, one step at a time: an agent works on the next task, another one reviews it, and the task is sent
 * back with the findings until it is approved. The run ends when the plan is done, a person is needed, or a limit is reached.
 * The outcome of each step is in the session, so an interrupted run can be started again and continues where it was. Several
 * runs share a plan: a task belongs to the run that holds its lease.
 *
 * @throws ThroughlineError `usage` for options that contradict each other or a session that follows another plan,
 * `unavailable` when nothing answers for `patienceMs`; and errors of an agent
 */
export async function runPlan(options: RunPlanOptions): Promise<RunSummary> {
  const session = options.session ?? (options.plan === undefined ? undefined : sessionOfPlan(options.plan));
  if (session === undefined) throw usageError('neither plan nor session is given: name one of them');
  if (options.reviewer === undefined && options.check === undefined)
    throw usageError('neither reviewer nor check is given: nothing would approve the work');
  const { maxRounds, timeoutMs, patienceMs, maxTokens, maxCost } = options;
  for (const [name, value] of Object.entries({ maxRounds, timeoutMs, patienceMs, maxTokens, maxCost })) {
    if (value !== undefined && !(value > 0)) throw usageError(`${name} is ${value}: use a number above 0`);
  }
  return new PlanRunner(options, session).run();
}

class PlanRunner {
  readonly #options: RunPlanOptions;
  readonly #session: string;
  readonly #signal: AbortSignal;
  readonly #rules: RunRules;
  readonly #talk: PatientSession;
  readonly #claim: ClaimTask;
  readonly #tally = new RunTally();
  /** What `decide` knows of the run beside its tasks. */
  readonly #known = {
    elsewhere: new Set<string>(),
    closed: new Set<string>(),
    again: new Map<string, number>(),
  };
  readonly #inVain = new Map<string, number>();
  readonly #reported = new Set<string>();
  readonly #started = performance.now();
  #tasks: readonly WorkTask[] = [];
  #claimed: { readonly task: string; readonly lease: HeldLease } | undefined;
  #changed: () => Promise<void> = async () => {};
  #plan: string | undefined;

  constructor(options: RunPlanOptions, session: string) {
    const { maxRounds = DEFAULTS.maxRounds, tick = false, maxTokens, maxCost } = options;
    const { patienceMs = DEFAULTS.patienceMs, signal = new AbortController().signal } = options;
    this.#options = options;
    this.#session = session;
    this.#signal = signal;
    this.#rules = { maxRounds, tick, maxTokens, maxCost };
    this.#talk = patientSession(options.client, session, patienceMs, signal, ({ message }) =>
      this.#tell({ type: 'note', message: `no answer yet, retrying: ${message}` }),
    );
    this.#claim = taskLeases(this.#talk.ask, session, options.run ?? { holder: newHolder() });
  }

  async run(): Promise<RunSummary> {
    try {
      return this.#end(await this.#steps());
    } catch (error) {
      if (!this.#signal.aborted) throw error;
      return this.#end({ outcome: 'stopped' });
    } finally {
      await this.#release();
    }
  }

  async #steps(): Promise<Pick<RunSummary, 'outcome' | 'why'>> {
    const { plan, session: given, isGuessed = false, project, versionOf } = this.#options;
    const isNamed = given !== undefined && !isGuessed;
    const followed = await followPlan(this.#talk.ask, this.#session, plan, isNamed, versionOf);
    this.#plan = followed.path;
    this.#changed = followed.changed;
    if (project !== undefined) {
      const session = this.#session;
      await this.#talk.ask(({ tools }) => tools.sessionOpen({ session, project }));
    }
    await this.#read();
    this.#begin();
    for (;;) {
      const { touched, spent } = this.#tally;
      const decision = decide({ ...this.#known, tasks: this.#tasks, touched, spent }, this.#rules);
      if (decision.kind === 'end') return decision;
      if (decision.kind === 'give-up') {
        const { task, outcome, why } = decision;
        this.#tally.begin(task);
        this.#tell({ type: 'task-ended', task: task.id, outcome, why });
        return { outcome };
      }
      if (decision.kind === 'step') await this.#take(decision.task, decision.step);
      else {
        await pause(LOOK_AGAIN_MS, undefined, { signal: this.#signal });
        this.#known.elsewhere.clear();
      }
      await this.#read();
    }
  }

  async #read(): Promise<void> {
    this.#tasks = await sessionTasks(this.#talk.ask, this.#session);
    for (const question of openQuestions(this.#session, this.#tasks)) {
      if (this.#reported.has(openQuestionKey(question))) continue;
      this.#reported.add(openQuestionKey(question));
      this.#tell({ type: 'question', ...question });
    }
  }

  #begin(): void {
    const open = this.#tasks.filter(({ isDone }) => !isDone);
    const { tick = false, again = false } = this.#options;
    if (!tick && open.filter(({ from }) => from === 'plan').length > MOST_UNTICKED) {
      throw usageError(
        `the plan has more than ${MOST_UNTICKED} open tasks, and a session remembers what came of ${MOST_UNTICKED}: have lines ticked (--tick)`,
      );
    }
    if (again) for (const { id, results } of open) if (results > 0) this.#known.again.set(id, results);
    const tasks = this.#tasks.length;
    this.#tell({ type: 'run-started', session: this.#session, tasks, done: tasks - open.length });
  }

  /** Runs a step under the lease of its task, unless another run holds it or takes it meanwhile. */
  async #take(task: WorkTask, step: RunStep): Promise<void> {
    // A result has closed it on the board: nothing is left to do.
    if (step.kind === 'close' && task.from === 'board') return this.#close(task);
    const lease = await this.#leaseOf(task);
    if (lease === undefined) return;
    try {
      // The process may have been suspended between two steps and lost the lease.
      await lease.confirm();
      if (this.#tally.begin(task) && step.kind !== 'close')
        this.#tell({ type: 'task-started', task: task.id, text: task.text });
      if (step.kind === 'close') await this.#close(task);
      else await this.#step(task, step, lease);
    } catch (error) {
      if (!lease.lost.aborted || this.#signal.aborted) throw error;
      await this.#leave(task, messageOf(lease.lost.reason));
    }
  }

  /** Returns undefined if another run holds the lease, or held it and has changed the task. */
  async #leaseOf({ id, results }: WorkTask): Promise<HeldLease | undefined> {
    if (this.#claimed?.task === id) return this.#claimed.lease;
    await this.#release();
    const lease = await this.#claim(id);
    if (!isHeld(lease)) {
      await this.#leave({ id }, `${id} is being worked on by ${lease.holder} since ${lease.since}`);
      return undefined;
    }
    this.#claimed = { task: id, lease };
    const { tasks } = await this.#talk.ask((client) => client.runs.status({ session: this.#session }));
    const isSame = (tasks.find((task) => task.task === id)?.dispatches ?? 0) === results;
    return isSame ? lease : undefined;
  }

  /** Leaves a task to the run that holds its lease, until nothing else is left to do. */
  async #leave({ id }: Pick<WorkTask, 'id'>, message: string): Promise<void> {
    this.#known.elsewhere.add(id);
    await this.#release();
    if (!this.#reported.has(message)) this.#tell({ type: 'note', message });
    this.#reported.add(message);
  }

  async #release(): Promise<void> {
    const claimed = this.#claimed;
    this.#claimed = undefined;
    await claimed?.lease.release();
  }

  async #step(task: WorkTask, step: Exclude<RunStep, { kind: 'close' }>, lease: HeldLease): Promise<void> {
    const { implementer, reviewer, check, project, directory = '.' } = this.#options;
    const { timeoutMs = DEFAULTS.timeoutMs } = this.#options;
    const place = `${task.id} ${task.results}`;
    const inVain = this.#inVain.get(place) ?? 0;
    this.#inVain.set(place, inVain + 1);
    if (inVain >= MOST_IN_VAIN) {
      const why = `session ${this.#session} accepts none of its results; see "throughline result ls"`;
      throw new ThroughlineError('internal', `task ${task.id}: ${why}`);
    }
    const { ask, publish } = this.#talk;
    const { signal, release } = linkedSignal([this.#signal, lease.lost]);
    try {
      await runStep(task, step, {
        ask,
        async publish(role, body) {
          await lease.confirm();
          return publish(role, body);
        },
        session: this.#session,
        project,
        directory,
        implementer,
        reviewer,
        check,
        timeoutMs,
        signal,
        tell: (event) => this.#tell(event),
      });
    } finally {
      release();
    }
  }

  async #close({ id, isUnticked }: WorkTask): Promise<void> {
    let why: string | undefined;
    if (this.#rules.tick && isUnticked) {
      why = await this.#tick(id);
      if (why === undefined) {
        await this.#changed();
        this.#tell({ type: 'ticked', task: id });
      } else this.#tell({ type: 'note', message: `${id} is approved, but its line is not ticked: ${why}` });
    }
    this.#known.closed.add(id);
    this.#tell({ type: 'task-ended', task: id, outcome: 'approved', ...(why !== undefined && { why }) });
    await this.#release();
  }

  async #tick(id: string): Promise<string | undefined> {
    if (this.#plan === undefined) return 'the file of the plan is unknown';
    const session = this.#session;
    const { run, lists } = await this.#talk.ask(({ runs }) => runs.status({ session, lists: ['plan'] }));
    const { shortened } = run ?? {};
    return tickPlan(this.#plan, id, { tasks: lists?.plan ?? [], ...(shortened && { shortened }) });
  }

  #end({ outcome, why }: Pick<RunSummary, 'outcome' | 'why'>): RunSummary {
    const summary = this.#tally.summary({
      session: this.#session,
      outcome,
      ...(why !== undefined && { why }),
      total: this.#tasks.length,
      done: this.#tasks.filter(({ isDone }) => isDone).length,
      questions: openQuestions(this.#session, this.#tasks),
      ms: performance.now() - this.#started,
    });
    this.#tell({ type: 'run-ended', summary });
    return summary;
  }

  #tell(event: RunPlanEvent): void {
    this.#tally.take(event);
    this.#options.onEvent?.(event);
  }
}
