import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { codeOf, messageOf, ThroughlineError } from '../contracts/errors.js';
import type { PlanTaskView, RunStatusReply } from '../contracts/plan-requests.js';
import type { ToolReply } from '../contracts/requests.js';
import type { DispatchResult, TimelineEntry } from '../contracts/result-requests.js';
import { type HeldLease, holdLease, type Lease, type LeaseStore } from '../engine/ports/lease-store.js';
import type { OutcomeName } from '../ledger/task-ledger.js';
import { keepTrying } from '../sdk/keep-trying.js';
import type { PublishOptions } from '../sdk/persistent-publish.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { defined } from '../shared/collections.js';
import { isObject } from '../shared/text.js';
import type { AgentRole, RunIdentity } from './run-types.js';
import type { Stall, WorkTask } from './task-step.js';

type Came = RunStatusReply['tasks'][number];

/** Results of a task that count its rounds. */
const MOST_RESULTS = 500;

export type Asking = <T>(request: (client: ThroughlineClient) => Promise<T>) => Promise<T>;

/** Returns the tasks of a session with their results, those of the plan first. */
export async function sessionTasks(ask: Asking, session: string): Promise<WorkTask[]> {
  const status = await ask((client) => client.runs.status({ session, lists: ['plan'] }));
  const board =
    status.session.board.total === 0 ? [] : (await ask((client) => client.tools.taskList({ session }))).tasks;
  const progress = new Map(status.tasks.map((task) => [task.task, task]));
  const tasks = [
    ...planTasks(status.lists?.plan ?? [], progress),
    ...board.map((task) => boardTask(task, progress.get(task.id))),
  ];
  return Promise.all(
    tasks.map(async (task) => {
      const known = progress.get(task.id);
      return task.isDone || known === undefined ? task : { ...task, ...(await history(ask, session, known)) };
    }),
  );
}

/** Returns the tasks of a plan that are neither cancelled nor split into subtasks. */
function planTasks(all: readonly PlanTaskView[], progress: ReadonlyMap<string, Came>): WorkTask[] {
  const parents = new Set(all.flatMap(({ parent }) => parent ?? []));
  const approved = new Set<string>();
  return all.flatMap((task) => {
    const { id, text, parent, status, blocked, optional, cancelled, group } = task;
    // A parent precedes its subtasks.
    if (wasApproved(progress.get(id)) || (parent !== undefined && approved.has(parent))) approved.add(id);
    if (parents.has(id) || cancelled === true || group === true) return [];
    const known = progress.get(id);
    const isOnHold = blocked === true && known?.last_outcome.endsWith('_blocked') !== true;
    return {
      ...beginning(known),
      id,
      text,
      from: 'plan' as const,
      isDone: status === 'completed' || approved.has(id),
      isUnticked: status !== 'completed' && approved.has(id),
      isOptional: optional === true,
      ...(isOnHold && { hold: 'the plan marks it as blocked' }),
      waitsFor: task.waits_for ?? [],
    };
  });
}

function boardTask(task: ToolReply<'task-list'>['tasks'][number], known: Came | undefined): WorkTask {
  const { id, content, status, unresolved, reason } = task;
  const isOnHold = status === 'blocked' && known?.last_outcome.endsWith('_blocked') !== true;
  return {
    ...beginning(known),
    id,
    text: content,
    from: 'board',
    isDone: status === 'completed' || status === 'cancelled' || wasApproved(known),
    isUnticked: false,
    isOptional: false,
    ...(isOnHold && { hold: `it is blocked${reason === undefined ? '' : `: ${reason}`}` }),
    waitsFor: unresolved.map((other) => other.id),
  };
}

function wasApproved(known: Came | undefined): boolean {
  return known?.last_outcome === 'reviewer_approved';
}

function beginning(known: Came | undefined) {
  const { questions = [], next_action, last_outcome } = known ?? {};
  const isBlocked = last_outcome?.endsWith('_blocked') === true;
  const isOpen = next_action === 'wait_for_answer' && questions.some((open) => open.default === undefined);
  const isAnswered = isBlocked && (next_action === 'retry' || next_action === 'dispatch_reviewer');
  return {
    questions,
    ...((isOpen || isAnswered) && { question: isOpen ? ('open' as const) : ('answered' as const) }),
    results: known?.dispatches ?? 0,
    rounds: 0,
    stall: 'none' as const,
    ...defined({ last: last_outcome as OutcomeName | undefined, stalledBy: known?.replan_hint }),
  };
}

async function history(ask: Asking, session: string, { task, stalled, dispatches }: Came) {
  const [results, stall] = await Promise.all([
    resultsOf(ask, session, task, dispatches),
    stalled ? stallOf(ask, session, task) : ('none' as const),
  ]);
  const since = results.findIndex(({ verdict }) => verdict === 'approved');
  const tries = since < 0 ? results : results.slice(0, since);
  const asks = ({ verdict, asks = [] }: TimelineEntry) => verdict === 'blocked' && asks.length > 0;
  return { rounds: tries.filter((result) => result.role === 'implementer' && !asks(result)).length, stall };
}

/** Returns the results of a task without duplicates, the newest first. */
async function resultsOf(ask: Asking, session: string, task: string, counted: number) {
  const { entries } = await ask(({ tools }) =>
    tools.timelineList({ session, task, kinds: ['result'], limit: MOST_RESULTS }),
  );
  const found = entries.filter(({ verdict }) => verdict !== undefined);
  if (found.length === counted) return found;
  // The log also contains duplicates.
  const counts = await Promise.all(
    found.map(async ({ dispatch }) => {
      if (dispatch === undefined) return true;
      const { status } = await ask((client) => client.tools.dispatchShow({ session, dispatch }));
      return status !== 'repeated';
    }),
  );
  return found.filter((_, index) => counts[index]);
}

async function stallOf(ask: Asking, session: string, task: string): Promise<Stall> {
  const { task: shown } = await ask((client) => client.runs.status({ session, task }));
  const signals: unknown = shown?.entries['ledger.task.stall_signals'];
  const isBeyond = (signal: unknown) => isObject(signal) && Number(signal.count) > Number(signal.threshold);
  return Array.isArray(signals) && signals.some(isBeyond) ? 'beyond' : 'replan';
}

/** Codes of temporary failures, beside `unavailable`: services that are starting, a busy session. */
const PASSING: ReadonlySet<string> = new Set(['not_caught_up', 'conflict', 'rate_limited']);

export type PatientSession = ReturnType<typeof patientSession>;

/** Returns access to a session that retries temporary failures for `patienceMs`; `onWaiting` is called with the first. */
export function patientSession(
  client: ThroughlineClient,
  session: string,
  patienceMs: number,
  signal: AbortSignal,
  onWaiting: (failure: Error) => void,
) {
  const ask: Asking = (request) =>
    keepTrying(() => request(client).catch(passing), { timeoutMs: patienceMs, signal, onWaiting });
  return {
    ask,
    /** Publishes a result and waits until it is folded. Safe to repeat with the same `result_id`. */
    async publish(role: AgentRole, body: string): Promise<DispatchResult> {
      const options: PublishOptions = { timeoutMs: patienceMs, signal, onWaiting };
      const { sequence: dispatch } = await client.publishText(session, role, body, options);
      return ask(({ tools }) => tools.dispatchShow({ session, dispatch }));
    },
  };
}

/** Turns temporary failures into `unavailable`, the only code that is retried. */
function passing(error: unknown): never {
  if (!PASSING.has(codeOf(error))) throw error;
  throw new ThroughlineError('unavailable', messageOf(error), { cause: error });
}

/** Lifetime of a lease without a heartbeat, in milliseconds. */
const TTL_MS = 30_000;

export function newHolder(): string {
  return `process ${process.pid} on ${hostname()} (${randomBytes(4).toString('hex')})`;
}

/** Claims the lease of a task, or returns the lease of the run that holds it. */
export type ClaimTask = (task: string) => Promise<HeldLease | Lease>;

/**
 * Claims tasks, so that only one of several runs and agents works on one. The lease of a killed run expires on the server. While
 * the server does not answer, a run continues with its claim, because no other run can have it.
 */
export function taskLeases(
  ask: Asking,
  session: string,
  { holder, ended = [] }: RunIdentity,
  beatMs?: number,
): ClaimTask {
  const released = (task: string, by: string) =>
    ask(({ tools }) => tools.taskRelease({ session, id: task, claim: by }).catch(notClaimed));
  const leases: LeaseStore = {
    async claim(task, { holder: claim, ttlMs, ended = [] }) {
      for (const by of ended) await released(task, by);
      return ask(async ({ tools }) => {
        const request = { session, id: task, claim, ttlMs };
        const reply = await tools.taskNext(request).catch(leaseOfOther);
        if ('holder' in reply) return reply;
        return { holder: claim, since: (reply.task ?? reply.plan)?.claimed_at ?? '' };
      });
    },
    async release(task, by) {
      await released(task, by);
    },
  };
  const now = () => new Date().toISOString();
  const options = { holder, ttlMs: TTL_MS, now, ended, ...defined({ beatMs }) };
  return (task) => holdLease(leases, task, { ...options, what: `task ${task}` });
}

/** Returns the lease of another holder, which refused a claim. */
function leaseOfOther(error: unknown): Lease {
  const { holder, since } = (error instanceof ThroughlineError && error.details) || {};
  if (codeOf(error) !== 'conflict' || typeof holder !== 'string') throw error;
  return { holder, since: String(since) };
}

/** Another holder may have the task, or nobody. */
function notClaimed(error: unknown): void {
  if (codeOf(error) !== 'conflict' && codeOf(error) !== 'not_found') throw error;
}
