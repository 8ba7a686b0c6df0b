import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { systemClock } from '../engine/ports/clients.js';
import { type HeldLease, holdLease, type Lease, type LeaseStore } from '../engine/ports/lease-store.js';
import type { RunIdentity } from './run-types.js';
import type { Asking } from './session-tasks.js';

/** Lifetime of a lease without a heartbeat, in milliseconds. */
const TTL_MS = 30_000;
/** Largest number of ended holders in a request. */
const MOST_ENDED = 20;

/** Returns a unique holder name for a run. */
export function newHolder(): string {
  return `process ${process.pid} on ${hostname()} (${randomBytes(4).toString('hex')})`;
}

/** Claims the lease of a task, or returns the lease of the run that holds it. */
export type ClaimTask = (task: string) => Promise<HeldLease | Lease>;

/**
 * Leases make sure that only one of several runs works on a task. The lease of a killed run expires on the server. While the
 * server does not answer, a run continues with its lease, because no other run can claim it.
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
