import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { ReplyTo, ToolReply } from '../../contracts/requests.js';
import type { TasksSource } from '../../contracts/run-request.js';
import type { LeaseStore } from '../../engine/ports/lease-store.js';
import { specNameOf } from '../../ledger/next-task.js';
import { planProblem } from '../../ledger/plan-document.js';
import { readDocument } from '../../ledger/read-plan.js';
import { refuseArchived } from '../../memory/session/commands/lifecycle-commands.js';
import { answer, append } from '../../memory/session/commands/session-decision.js';
import { sessionLists, taskShown } from '../../memory/session/plan-view.js';
import { runStatus } from '../../memory/session/run-status.js';
import { ledgersOf, planVersion, type SessionState, seenState } from '../../memory/session/session-state.js';
import { claimOf, holderOf } from '../../memory/session/task-board.js';
import { hashOf } from '../../shared/hash.js';
import type { ToolPorts } from '../common/service-context.js';
import type { Asked, Handlers } from '../common/service-shell.js';

/** Problems listed in a reply; the run counts all of them. */
const MAX_PROBLEMS = 1000;

export function createRunService({
  reader,
  command,
  tracker,
}: Pick<ToolPorts, 'reader' | 'command' | 'tracker'>): Handlers<'run.init' | 'run.status'> {
  /** Returns the state with the current plan, and the error if the plan could not be read. */
  async function refreshed(session: Token): Promise<{ state: SessionState; degraded?: string }> {
    const { folded } = await reader.load(session);
    const outcome = await tracker.refresh(session, folded.state);
    const { state } = (await reader.load(session)).folded;
    return { state, ...(outcome.outcome === 'failed' && { degraded: outcome.message }) };
  }

  return {
    /** Records the tasks as the session's plan, or that it follows none. @throws ThroughlineError if they cannot be read */
    async 'run.init'({ session, spec, goal, tasksPath, tasksText, requirementsText, settings, unfollow }) {
      if (unfollow) {
        const { reply } = await command(session, 'run.init', (state) => {
          if (state.charter.archived !== undefined) return refuseArchived(state);
          return state.run === undefined
            ? answer(runStatus)
            : append({ type: 'run.ended', data: {} }, runStatus);
        });
        return { ...(reply as ReplyTo<'run.init'>), problems: [] };
      }
      const source: TasksSource =
        tasksPath === undefined ? { kind: 'document' } : { kind: 'file', path: tasksPath };
      const read =
        tasksPath === undefined
          ? readDocument(tasksText ?? '', 'tasksText', 0, { requirements: requirementsText })
          : await tracker.readFile(tasksPath);
      if (!read.ok)
        throw new ThroughlineError(
          read.code,
          read.fix === undefined ? read.message : `${read.message}; ${read.fix}`,
          { details: { path: tasksPath ?? null } },
        );
      const { document, unnamed, problems } = read;
      const { reply } = await command(session, 'run.init', (state) => {
        if (state.charter.archived !== undefined) return refuseArchived(state);
        const before = state.run;
        const kept = goal ?? before?.goal;
        const data = {
          spec: spec ?? before?.spec ?? specNameOf(tasksPath ?? ''),
          source,
          document: planVersion(state, document, unnamed),
          ...(kept !== undefined && { goal: kept }),
          ...(settings !== undefined && { settings }),
        };
        return append({ type: 'run.initialized', data }, runStatus);
      });
      return {
        ...(reply as ReplyTo<'run.init'>),
        problems: problems.slice(0, MAX_PROBLEMS).map(planProblem),
      };
    },
    async 'run.status'({ session, task, lists, status }) {
      const { state, ...degraded } = await refreshed(session);
      return {
        ...runStatus(state),
        ...degraded,
        ...(task !== undefined && { task: taskShown(state, task) }),
        ...(lists !== undefined && { lists: sessionLists(state, lists, status) }),
        sequence: state.sequence,
      };
    },
  };
}

/** The key of a task's lease: a hash, so that the name of a forgotten session does not remain. */
export function runLease(session: Token, task: string): string {
  return `run.${hashOf(JSON.stringify([session, task]))}`;
}

/** Answers `run-claim`: a lease per task, unless an agent has claimed the task. */
export function createRunClaim(leases: LeaseStore, { clock, reader }: Pick<ToolPorts, 'clock' | 'reader'>) {
  return async ({
    session,
    task,
    holder,
    ttlMs,
    ended,
    release,
  }: Asked<'tool.run-claim'>): Promise<ToolReply<'run-claim'>> => {
    const key = runLease(session, task);
    if (release) {
      await leases.release(key, holder);
      return { claimed: false };
    }
    const claim = { holder, ttlMs, at: clock(), ...(ended !== undefined && { ended }) };
    const lease = await leases.claim(key, claim);
    if (lease.holder === holder && lease.since === claim.at) {
      const state = seenState((await reader.load(session)).folded.state, claim.at);
      const agent = holderOf(state.board, task, ledgersOf(state));
      if (agent !== undefined) {
        await leases.release(key, holder);
        return { claimed: false, holder: agent, since: claimOf(state.board, task).claimed_at ?? '' };
      }
    }
    return { claimed: lease.holder === holder, ...lease };
  };
}
