import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { ThroughlineClient } from '../client/throughline-client.js';
import { ThroughlineError } from '../contracts/errors.js';
import type { ToolReply } from '../contracts/replies/replies.js';
import type { RunIdentity } from './run-types.js';
import type { Asking } from './session-tasks.js';

/** How long a lease outlasts a run that was killed, in milliseconds; a run that lives renews it three times in that time. */
const TTL_MS = 30_000;
const BEAT_MS = TTL_MS / 3;

/** Names a run for others. */
export function newHolder(): string {
  return `process ${process.pid} on ${hostname()} (${randomBytes(4).toString('hex')})`;
}

/** The lease of a task, renewed until it is released. */
export interface TaskLease {
  /** Fires once another run is known to hold the lease, or to have been able to. Such a lease is not used again. */
  readonly lost: AbortSignal;
  /** Renews the lease now. @throws ThroughlineError `conflict` if it is lost */
  confirm(): Promise<void>;
  release(): Promise<void>;
}

/** Another run holds the lease. */
export interface HeldElsewhere {
  readonly holder: string;
  readonly since: string;
}

export interface TaskLeases {
  claim(task: string): Promise<TaskLease | HeldElsewhere>;
}

/**
 * The leases of a run: of several runs of a session, on any machine, one works on a task. The server ends the lease of a run
 * that was killed. While nothing answers, a run keeps its lease and goes on: no other one can claim it then.
 */
export function taskLeases(
  client: ThroughlineClient,
  ask: Asking,
  session: string,
  { holder, ended = [] }: RunIdentity,
  beatMs = BEAT_MS,
): TaskLeases {
  const request = (task: string) => ({ session, task, holder, ttlMs: TTL_MS });
  return {
    async claim(task) {
      const claim = { ...request(task), ...(ended.length > 0 && { ended: ended.slice(-MOST_ENDED) }) };
      const first = await ask(({ tools }) => tools.runClaim(claim));
      if (!first.claimed) return elsewhere(first);
      const lost = new AbortController();
      const lose = (message: string) => {
        clearInterval(timer);
        lost.abort(new ThroughlineError('conflict', message, { details: { task } }));
      };
      const renew = async (through: Asking) => {
        const reply = await through(({ tools }) => tools.runClaim(request(task)));
        const { holder: by, since } = elsewhere(reply);
        if (!reply.claimed) lose(`task ${task} is being worked on by ${by} since ${since}`);
        return since;
      };
      let beating: Promise<unknown> | undefined;
      const timer = setInterval(() => {
        // A beat without an answer is made up for by the next.
        beating ??= renew((once) => once(client))
          .catch(() => {})
          .finally(() => {
            beating = undefined;
          });
      }, beatMs);
      return {
        lost: lost.signal,
        async confirm() {
          lost.signal.throwIfAborted();
          const since = await renew(ask);
          // It had ended meanwhile, and another run may have done the step. A call is not aborted for that: its answer may count.
          if (since !== elsewhere(first).since)
            lose(`the lease of task ${task} had lapsed: it is claimed again`);
          lost.signal.throwIfAborted();
        },
        async release() {
          clearInterval(timer);
          await beating;
          await ask(({ tools }) => tools.runClaim({ ...request(task), release: true })).catch(() => {});
        },
      };
    },
  };
}

/** As many as a request may name. */
const MOST_ENDED = 20;

function elsewhere({ holder = 'another run', since = '' }: ToolReply<'run-claim'>): HeldElsewhere {
  return { holder, since };
}
