import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type HeldLease, holdLease, type Lease, type LeaseStore } from '../engine/ports/lease-store.js';
import { systemClock } from '../engine/ports/logger.js';
import type { RunIdentity } from './run-types.js';
import type { Asking } from './session-tasks.js';

/** How long a lease outlasts a run that was killed, in milliseconds. */
const TTL_MS = 30_000;
/** As many as a request may name. */
const MOST_ENDED = 20;

/** Names a run for others. */
export function newHolder(): string {
  return `process ${process.pid} on ${hostname()} (${randomBytes(4).toString('hex')})`;
}

/** Claims the lease of a task. Returns the lease of the other run if one has it. */
export type ClaimTask = (task: string) => Promise<HeldLease | Lease>;

/**
 * The leases of a run: of several runs of a session, on any machine, one works on a task. The server ends the lease of a run
 * that was killed. While nothing answers, a run keeps its lease and goes on: no other one can claim it then.
 */
export function taskLeases(
  ask: Asking,
  session: string,
  { holder, ended = [] }: RunIdentity,
  beatMs?: number,
): ClaimTask {
  const leases: LeaseStore = {
    async claim(task, { at: _, ended: gone, ...claim }) {
      const request = { session, task, ...claim, ...(gone !== undefined && { ended: [...gone] }) };
      const reply = await ask(({ tools }) => tools.runClaim(request));
      return { holder: reply.holder ?? 'another run', since: reply.since ?? '' };
    },
    async release(task, by) {
      await ask(({ tools }) => tools.runClaim({ session, task, holder: by, ttlMs: TTL_MS, release: true }));
    },
  };
  const options = {
    ...{ holder, ttlMs: TTL_MS, now: systemClock },
    ...(ended.length > 0 && { ended: ended.slice(-MOST_ENDED) }),
    ...(beatMs !== undefined && { beatMs }),
  };
  return (task) => holdLease(leases, task, { ...options, what: `task ${task}` });
}
