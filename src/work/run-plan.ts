import { setTimeout as pause } from 'node:timers/promises';
import { codeOf, messageOf, ThroughlineError, usageError } from '../contracts/errors.js';
import { type HeldLease, isHeld } from '../engine/ports/lease-store.js';
import { linkedSignal } from '../shared/linked-signal.js';
import { named } from '../shared/text.js';
import { followPlan, sessionOfPlan, tickPlan } from './follow-plan.js';
import { workPlace } from './git-worktrees.js';
import { type Aside, decide, type RunDecision, type RunRules, type RunStep } from './plan-run.js';
import type { HookMoment } from './run-hooks.js';
import { checkOptions, DEFAULTS, type RunPlanOptions } from './run-options.js';
import { RunTally } from './run-tally.js';
import type { RunPlanEvent, RunSummary } from './run-types.js';
import {
  type ClaimTask,
  newHolder,
  type PatientSession,
  patientSession,
  sessionTasks,
  taskLeases,
} from './session-tasks.js';
import { runStep } from './step-runner.js';
import type { WorkTask } from './task-step.js';
import { askedKey, openQuestions } from './task-step.js';

/** Tasks whose outcome a session keeps: a run would repeat older ones. */
const MOST_UNTICKED = 300;
/** Interval between claims of a task that another run works on, and between looks for an answer, in milliseconds. */
const LOOK_AGAIN_MS = 2000;
/** Consecutive steps of a task without an accepted result before the run fails. */
const MOST_IN_VAIN = 3;

/**
 * Runs a plan with agents: an agent works on the next task, another one reviews it, and the task is sent back with the findings
 * until it is approved. The run ends when the plan is done, a person is needed, or a limit is reached. The outcome of each step
 * is in the session, so an interrupted run can be started again and resumes where it was.
 *
 * @throws ThroughlineError `usage` for options that contradict each other or a session that follows another plan,
 * `unavailable` when nothing answers for `patienceMs`; and errors of an agent
 */
export async function runPlan(options: RunPlanOptions): Promise<RunSummary> {
  const session = options.session ?? (options.plan === undefined ? undefined : sessionOfPlan(options.plan));
  checkOptions(options, session);
  const failed = new AbortController();
  const ended = linkedSignal([options.signal, failed.signal]);
  try {
    return await new PlanRunner(options, session ?? '', ended.signal, failed).run();
  } finally {
    ended.release();
  }
}

class PlanRunner {
  readonly #options: RunPlanOptions;
  readonly #session: string;
  readonly #signal: AbortSignal;
  readonly #failed: AbortController;
  readonly #rules: RunRules;
  readonly #talk: PatientSession;
  readonly #tally = new RunTally();
  readonly #active = new Map<string, Promise<void>>();
  readonly #aside = new Map<string, Aside>();
  readonly #closed = new Set<string>();
  readonly #again = new Map<string, number>();
  readonly #inVain = new Map<string, number>();
  readonly #claim: ClaimTask;
  readonly #held = new Map<string, HeldLease>();
  /** Commits on which tasks began in this run. */
  readonly #bases = new Map<string, string>();
  /** Output of hooks for the next prompt: of a task, or under `undefined` of any. */
  readonly #hookOutput = new Map<string | undefined, string[]>();
  /** Tasks whose first hook ran in this run. */
  readonly #hooked = new Set<string>();
  /** Tasks of other runs, with the time of the next claim. */
  readonly #elsewhere = new Map<string, number>();
  /** Notes and questions that were told. */
  readonly #told = new Set<string>();
  /** Tasks whose step ran while the tasks were read: the read may be older than their result. */
  #unread: ReadonlySet<string> = new Set();
  readonly #started = performance.now();
  #changed: () => Promise<void> = async () => {};
  #plan: string | undefined;
  #fault: unknown;

  constructor(options: RunPlanOptions, session: string, signal: AbortSignal, failed: AbortController) {
    const { maxRounds = DEFAULTS.maxRounds, parallel = 1, onStall = 'ask', tick = false } = options;
    const { maxTokens, maxCost, patienceMs = DEFAULTS.patienceMs } = options;
    this.#options = options;
    this.#session = session;
    this.#signal = signal;
    this.#failed = failed;
    this.#rules = { maxRounds, parallel, onStall, tick, maxTokens, maxCost };
    this.#talk = patientSession(options.client, session, patienceMs, signal, ({ message }) =>
      this.#tell({ type: 'note', message: `no answer yet, retrying: ${message}` }),
    );
    const { run = { holder: newHolder() } } = options;
    this.#claim = taskLeases(this.#talk.ask, session, run);
  }

  async run(): Promise<RunSummary> {
    try {
      return await this.#run();
    } catch (error) {
      this.#failed.abort(error);
      await Promise.all(this.#active.values());
      if (this.#options.signal?.aborted !== true || this.#fault !== undefined) throw error;
      return this.#end([], { begin: [], setAside: [] }, undefined);
    } finally {
      await Promise.all([...this.#held.keys()].map((task) => this.#release(task)));
    }
  }

  async #run(): Promise<RunSummary> {
    const { plan, session: given, isGuessed = false, project } = this.#options;
    const isNamed = given !== undefined && !isGuessed;
    const followed = await followPlan(this.#talk.ask, this.#session, plan, isNamed);
    this.#plan = followed.path;
    this.#changed = followed.changed;
    if (project !== undefined) {
      const session = this.#session;
      await this.#talk.ask(({ tools }) => tools.sessionOpen({ session, project }));
    }
    await this.#hook('beforeRun');
    const before = await this.#proposals();
    let tasks = await this.#tasks();
    this.#begin(tasks);
    for (;;) {
      this.#tellQuestions(tasks);
      const decision = await this.#decide(tasks);
      if (decision.end !== undefined && !this.#signal.aborted) await this.#hook('afterRun');
      if (decision.end !== undefined) return this.#end(tasks, decision, before);
      await this.#progress(tasks.some(({ asked }) => asked === 'open'));
      if (this.#fault !== undefined) throw this.#fault;
      const isStopping = this.#signal.aborted;
      this.#unread = new Set(isStopping ? [] : this.#active.keys());
      if (!isStopping) tasks = await this.#tasks();
    }
  }

  async #decide(tasks: readonly WorkTask[]): Promise<RunDecision> {
    const done = tasks.filter(({ isDone }) => isDone).map(({ id }) => id);
    const unmerged = (await this.#options.workspaces?.unmerged(done)) ?? new Set();
    const touched = done.filter((id) => this.#tally.has(id) && !this.#closed.has(id));
    const decision = decide(
      {
        tasks,
        active: new Set([...this.#active.keys(), ...this.#unread]),
        elsewhere: this.#waitedFor(),
        aside: this.#aside,
        closed: this.#closed,
        unmerged,
        touched: new Set(touched),
        again: this.#again,
        spent: this.#tally.spent,
        isStopping: this.#signal.aborted,
      },
      this.#rules,
    );
    for (const { task, aside } of decision.setAside) await this.#setAside(task, aside);
    for (const { task, step } of decision.begin) this.#start(task, step, unmerged.has(task.id));
    return decision;
  }

  #begin(tasks: readonly WorkTask[]): void {
    const open = tasks.filter(({ isDone }) => !isDone);
    const { tick = false, again = false } = this.#options;
    if (!tick && open.filter(({ from }) => from === 'plan').length > MOST_UNTICKED) {
      throw usageError(
        `the plan has more than ${MOST_UNTICKED} open tasks, and a session remembers what came of ${MOST_UNTICKED}: have lines ticked (--tick)`,
      );
    }
    if (again) for (const { id, results } of open) if (results > 0) this.#again.set(id, results);
    const done = tasks.length - open.length;
    this.#tell({ type: 'run-started', session: this.#session, tasks: tasks.length, done });
  }

  /** Waits until a step has ended, or it is time to look for an answer or the task of another run again. */
  async #progress(isAsking: boolean): Promise<void> {
    if ([...this.#unread].some((task) => !this.#active.has(task))) return;
    const stop = new AbortController();
    const { signal, release } = linkedSignal([this.#signal, stop.signal]);
    const isSlotFree = this.#active.size < this.#rules.parallel;
    const waits = isSlotFree && (isAsking || this.#elsewhere.size > 0);
    const again = waits ? [pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {})] : [];
    await Promise.race([...this.#active.values(), ...again]);
    stop.abort();
    release();
  }

  #waitedFor(): ReadonlySet<string> {
    const now = performance.now();
    for (const [task, until] of this.#elsewhere) if (until <= now) this.#elsewhere.delete(task);
    return new Set(this.#elsewhere.keys());
  }

  #start(task: WorkTask, step: RunStep, isUnmerged: boolean): void {
    const settled = this.#leased(task, step, isUnmerged)
      .catch(async (error: unknown) => {
        // An abort of the run is not an error of the step.
        if (this.#signal.aborted) return;
        const lost = this.#held.get(task.id)?.lost;
        if (lost?.aborted === true) await this.#yieldTask(task.id, messageOf(lost.reason));
        else {
          this.#fault = error;
          this.#failed.abort(error);
        }
      })
      .finally(() => this.#active.delete(task.id));
    this.#active.set(task.id, settled);
  }

  /** Runs a step under the lease of its task, unless another run holds it. */
  async #leased(task: WorkTask, step: RunStep, isUnmerged: boolean): Promise<void> {
    const { id } = task;
    let lease = this.#held.get(id);
    // The process may have been suspended between two steps and lost the lease.
    await lease?.confirm();
    if (lease === undefined) {
      const claimed = await this.#claim(id);
      if (!isHeld(claimed)) {
        const { holder, since } = claimed;
        return this.#yieldTask(id, `${id} is being worked on by ${holder} since ${since}`);
      }
      lease = claimed;
      this.#held.set(id, lease);
      // The previous holder may have done this step.
      const { tasks } = await this.#talk.ask((client) => client.runStatus(this.#session));
      const results = tasks.find((each) => each.task === id)?.dispatches ?? 0;
      if (results !== task.results) return this.#release(id);
    }
    if (!this.#tally.has(id)) {
      this.#tally.begin(task);
      if (step.kind !== 'close') this.#tell({ type: 'task-started', task: id, text: task.text });
    }
    if (step.kind === 'close') return this.#close(task, isUnmerged);
    const signal = linkedSignal([this.#signal, lease.lost]);
    try {
      await this.#step(task, step, lease, signal.signal);
    } finally {
      signal.release();
    }
  }

  /** Leaves a task to the run that holds its lease, until the next claim. */
  async #yieldTask(task: string, message: string): Promise<void> {
    this.#elsewhere.set(task, performance.now() + LOOK_AGAIN_MS);
    await this.#release(task);
    if (!this.#told.has(message)) this.#tell({ type: 'note', message });
    this.#told.add(message);
  }

  async #release(task: string): Promise<void> {
    const lease = this.#held.get(task);
    this.#held.delete(task);
    await lease?.release();
  }

  async #step(
    task: WorkTask,
    step: Exclude<RunStep, { kind: 'close' }>,
    lease: HeldLease,
    signal: AbortSignal,
  ): Promise<void> {
    const { implementer, reviewer, check, kept, project, maxFacts } = this.#options;
    const { timeoutMs } = { ...DEFAULTS, ...this.#options };
    const { workspaces, directory = '.' } = this.#options;
    this.#countInVain(task);
    let place = directory;
    try {
      place = (await workspaces?.open(task.id)) ?? directory;
    } catch (error) {
      if (codeOf(error) !== 'conflict') throw error;
      return this.#setAside(task, { kind: 'needed', why: messageOf(error) });
    }
    const at = await workPlace(place);
    // The base of later rounds is that of the first.
    if (step.kind === 'implement' && at !== undefined && !this.#bases.has(task.id))
      this.#bases.set(task.id, at.commit);
    const review = at && { ...at, base: this.#bases.get(task.id) };
    const hook = (moment: HookMoment) => this.#hook(moment, task.id, place, signal);
    if (!this.#hooked.has(task.id)) await hook('beforeTask');
    this.#hooked.add(task.id);
    await hook('beforeIteration');
    const { ask, publish } = this.#talk;
    await runStep(task, step, place, {
      ask,
      async publish(role, body) {
        await lease.confirm();
        return publish(role, body);
      },
      session: this.#session,
      project,
      maxFacts,
      agents: { implementer, reviewer },
      ...{ check, kept, review, timeoutMs, signal },
      hookOutput: () => [...this.#takeOutput(undefined), ...this.#takeOutput(task.id)],
      tell: (event) => this.#tell(event),
    });
    await hook('afterIteration');
  }

  /** Fails after several steps that did not change the results of their task. */
  #countInVain({ id, results }: WorkTask): void {
    const place = `${id} ${results}`;
    const times = (this.#inVain.get(place) ?? 0) + 1;
    this.#inVain.set(place, times);
    if (times <= MOST_IN_VAIN) return;
    throw new ThroughlineError(
      'internal',
      `task ${id}: session ${this.#session} accepts none of its results; see "throughline result ls"`,
    );
  }

  /** Merges and ticks an approved task. */
  async #close(task: WorkTask, isUnmerged: boolean): Promise<void> {
    const { id, text } = task;
    if (isUnmerged) {
      const { fault, dropped = [] } = (await this.#options.workspaces?.merge(id, text)) ?? {};
      if (fault !== undefined) return this.#setAside(task, { kind: 'needed', why: fault });
      if (dropped.length > 0)
        this.#tell({
          type: 'note',
          message: `${id}: ignored files were removed with the worktree: ${named(dropped)}`,
        });
      this.#tell({ type: 'merged', task: id });
    }
    let why: string | undefined;
    if (this.#rules.tick && task.isUnticked) {
      why = this.#plan === undefined ? 'the file of the plan is unknown' : await tickPlan(this.#plan, id);
      if (why === undefined) {
        await this.#changed();
        this.#tell({ type: 'ticked', task: id });
      } else this.#tell({ type: 'note', message: `${id} is approved, but its line is not ticked: ${why}` });
    }
    await this.#hookAfter(id);
    this.#closed.add(id);
    this.#tell({ type: 'task-ended', task: id, outcome: 'approved', ...(why !== undefined && { why }) });
    await this.#release(id);
  }

  async #setAside(task: WorkTask, aside: Aside): Promise<void> {
    this.#tally.begin(task);
    this.#aside.set(task.id, aside);
    await this.#hookAfter(task.id);
    this.#tell({ type: 'task-ended', task: task.id, outcome: aside.kind, why: aside.why });
    await this.#release(task.id);
  }

  async #end(
    tasks: readonly WorkTask[],
    { end }: RunDecision,
    proposalsBefore: number | undefined,
  ): Promise<RunSummary> {
    const { outcome, why } = end ?? { outcome: 'stopped' as const };
    const proposals = this.#signal.aborted ? undefined : await this.#proposals();
    const summary = this.#tally.summary({
      session: this.#session,
      outcome,
      ...(why !== undefined && { why }),
      total: tasks.length,
      done: tasks.filter(({ isDone }) => isDone).length,
      questions: openQuestions(this.#session, tasks),
      ms: performance.now() - this.#started,
      proposed: Math.max(0, (proposals ?? 0) - (proposalsBefore ?? proposals ?? 0)),
    });
    this.#tell({ type: 'run-ended', summary });
    return summary;
  }

  async #hookAfter(task: string): Promise<void> {
    if (this.#hooked.delete(task)) await this.#hook('afterTask', task);
  }

  async #hook(
    moment: HookMoment,
    task?: string,
    directory = this.#options.directory ?? '.',
    signal = this.#signal,
  ): Promise<void> {
    const of = { session: this.#session, ...(task !== undefined && { task }) };
    for (const { command, fault, quote } of (await this.#options.hooks?.({
      moment,
      ...of,
      directory,
      signal,
    })) ?? []) {
      if (fault !== undefined)
        this.#tell({ type: 'note', message: `warning: the ${moment} hook "${command}" ${fault}` });
      if (quote !== undefined) this.#hookOutput.set(task, [...(this.#hookOutput.get(task) ?? []), quote]);
    }
  }

  #takeOutput(task: string | undefined): readonly string[] {
    const output = this.#hookOutput.get(task) ?? [];
    this.#hookOutput.delete(task);
    return output;
  }

  #tellQuestions(tasks: readonly WorkTask[]): void {
    for (const asked of openQuestions(this.#session, tasks)) {
      if (this.#told.has(askedKey(asked))) continue;
      this.#told.add(askedKey(asked));
      this.#tell({ type: 'question', ...asked });
    }
  }

  #tasks(): Promise<WorkTask[]> {
    return sessionTasks(this.#talk.ask, this.#session);
  }

  /** Returns the number of pending proposals. It is only informative, so the request is not retried. */
  async #proposals(): Promise<number | undefined> {
    const { client, project } = this.#options;
    try {
      const { session } = await this.#talk.ask((asked) => asked.runStatus(this.#session));
      const named = project ?? session.project;
      const of = named === undefined ? {} : { project: named };
      return (await client.proposals.list({ ...of, status: 'pending', limit: 1 })).total;
    } catch {
      return undefined;
    }
  }

  #tell(event: RunPlanEvent): void {
    this.#tally.take(event);
    this.#options.onEvent?.(event);
  }
}
