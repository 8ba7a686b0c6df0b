import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { ReplyTo, ToolArguments } from '../../contracts/requests.js';
import type { SessionCommander } from '../../engine/folding/session-folding.js';
import { decide } from '../../memory/session/commands/decide-session.js';
import { boardOrPlan, candidates } from '../../memory/session/commands/task-commands.js';
import { ledgersOf, type SessionState, seenState } from '../../memory/session/session-state.js';
import {
  type Claim,
  claimedTasks,
  claimOf,
  hasReturned,
  withoutClaims,
} from '../../memory/session/task-board.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import { hashOf } from '../../shared/hash.js';
import { claimedBy } from '../../shared/wire-words.js';
import type { ToolPorts } from '../common/service-context.js';
import type { Handler } from '../common/service-shell.js';

/**
 * Claims of tasks, by agents and by runs of a plan. An event says who works on a task, and a lease is the sign of life. A claim
 * whose lease has ended counts as free, and the next claim replaces it. The lease is taken before the event is appended, so one
 * of two that claim at once is refused.
 */
interface ClaimPorts extends Pick<ToolPorts, 'reader' | 'command' | 'tracker' | 'clock'> {
  readonly leases: NatsPorts['leases'];
}

type Reply = ReplyTo<'tool.task-next'>;
type Claims = ReadonlyMap<string, Claim>;

/** A hash, so that the name of a forgotten session does not remain. */
function leaseKey(session: Token, task: string): string {
  return `task.${hashOf(JSON.stringify([session, task]))}`;
}

export function createTaskNext(ports: ClaimPorts): Handler<'tool.task-next'> {
  const { reader, command, tracker } = ports;
  return async ({ session, claim: agent, id, ttlMs }) => {
    // A task that is new in the plan can be claimed at once.
    await tracker.refresh(session, (await reader.load(session)).folded.state);
    const { state } = (await reader.load(session)).folded;
    const ended = await endedClaims(ports, session, state, agent);
    const named = id === undefined ? undefined : boardOrPlan(state, id);
    if (agent === undefined || (named !== undefined && 'refusal' in named)) {
      const { reply } = await command(session, 'task-next', (now) =>
        decide('task-next', without(now, ended), { id, ttlMs }),
      );
      return reply as Reply;
    }
    const tasks = named === undefined ? candidates(seenState(without(state, ended)), agent) : [named.id];
    for (const task of tasks) {
      try {
        return await claimed(ports, session, state, { id: task, claim: agent, ttlMs });
      } catch (error) {
        if (named !== undefined || codeOf(error) !== 'conflict') throw error;
      }
    }
    return { task: null, sequence: state.sequence };
  };
}

async function endedClaims(
  { leases }: ClaimPorts,
  session: Token,
  state: SessionState,
  agent: string | undefined,
): Promise<Claims> {
  const { board } = state;
  const others = claimedTasks(seenState(state).board, ledgersOf(state)).filter(
    (claim) => claim.agent !== agent,
  );
  const found = others.map(async ({ task }) => {
    const claim = claimOf(board, task);
    const lease = await leases.read(leaseKey(session, task));
    return lease === undefined ? [[task, claim] as const] : [];
  });
  return new Map((await Promise.all(found)).flat());
}

/** Returns the state without these claims, as far as they are still the newest ones. */
function without(state: SessionState, claims: Claims): SessionState {
  const { board } = state;
  const same = [...claims].filter(
    ([task, { claimed_at }]) => claimed_at !== undefined && claimOf(board, task).claimed_at === claimed_at,
  );
  if (same.length === 0) return state;
  return {
    ...state,
    board: withoutClaims(
      board,
      same.map(([task]) => task),
    ),
  };
}

/** Takes the lease of a task and claims it. A holder that returned its work gives way, unless it renewed its lease since. */
async function claimed(
  { command, leases, clock }: ClaimPorts,
  session: Token,
  state: SessionState,
  { id, claim: holder, ttlMs }: ToolArguments<'task-next'> & { readonly id: string; readonly claim: string },
): Promise<Reply> {
  const before = claimOf(state.board, id);
  const { claimed_by: other } = before;
  const key = leaseKey(session, id);
  const ledgers = ledgersOf(state);
  const returned = other !== undefined && hasReturned(seenState(state).board, id, ledgers);
  const { renewed = '' } = (returned && (await leases.read(key))) || {};
  const ended = returned && renewed <= (ledgers.get(id)?.last?.at ?? '') ? [other] : [];
  const at = clock();
  const lease = await leases.claim(key, { holder, ttlMs, at, ended });
  if (lease.holder !== holder)
    throw new ThroughlineError(
      'conflict',
      `${id} is ${claimedBy(lease.holder)} since ${lease.since}: take another task`,
      { details: { ...lease } },
    );
  const isNew = lease.since === at;
  try {
    const { reply } = await command(session, 'task-next', (now) => {
      const isRenewed = !isNew && claimOf(now.board, id).claimed_by === holder;
      return decide('task-next', isRenewed ? now : without(now, new Map([[id, before]])), {
        claim: holder,
        id,
        ttlMs,
      });
    });
    return reply as Reply;
  } catch (error) {
    if (isNew) await leases.release(key, holder).catch(() => {});
    throw error;
  }
}

/** Ends the leases of the claims that a command ends. One that cannot be ended now ends by itself. */
export function endingLeases({ command, leases }: Pick<ClaimPorts, 'command' | 'leases'>): SessionCommander {
  return async (session, name, decided) => {
    let ended: [string, Claim][] = [];
    const executed = await command(session, name, (state) => {
      const before = [...state.board.claims];
      const decision = decided(state);
      if (decision.kind === 'refuse') return decision;
      const reply = (after: SessionState) => {
        const isEnded = ([task, { claimed_by }]: [string, Claim]) =>
          claimed_by !== undefined && claimOf(after.board, task).claimed_by !== claimed_by;
        ended = before.filter(isEnded);
        return decision.reply(after);
      };
      return { ...decision, reply };
    });
    const release = ([task, { claimed_by = '' }]: [string, Claim]) =>
      leases.release(leaseKey(session, task), claimed_by).catch(() => {});
    await Promise.all(ended.map(release));
    return executed;
  };
}
