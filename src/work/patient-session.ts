import { keepTrying } from '../client/keep-trying.js';
import type { PublishOptions } from '../client/persistent-publish.js';
import type { ThroughlineClient } from '../client/throughline-client.js';
import { codeOf, messageOf, ThroughlineError } from '../contracts/errors.js';
import type { DispatchResult } from '../contracts/replies/dispatch-result.js';
import type { AgentRole } from './run-types.js';
import type { Asking } from './session-tasks.js';

/** Failures that pass: services that are starting, a server that is gone for a while, a busy session. */
const PASSING: ReadonlySet<string> = new Set(['unavailable', 'not_caught_up', 'conflict', 'rate_limited']);

/** How a run talks to its session, through times in which nothing answers. */
export interface PatientSession {
  readonly ask: Asking;
  /** Publishes a result and waits until it counts. Under the same `result_id` it counts once, however often. */
  publish(role: AgentRole, body: string): Promise<DispatchResult>;
}

/**
 * @param patienceMs how long one request is tried before its failure ends the run, in milliseconds
 * @param onWaiting told of the first failure of a request that is tried again
 */
export function patientSession(
  client: ThroughlineClient,
  session: string,
  patienceMs: number,
  signal: AbortSignal,
  onWaiting: (failure: Error) => void,
): PatientSession {
  const ask: Asking = (request) =>
    keepTrying(() => request(client).catch(passing), { timeoutMs: patienceMs, signal, onWaiting });
  return {
    ask,
    async publish(role, body) {
      const options: PublishOptions = { timeoutMs: patienceMs, signal, onWaiting };
      const { sequence: dispatch } = await client.publishText(session, role, body, options);
      return ask(({ tools }) => tools.dispatchShow({ session, dispatch }));
    },
  };
}

/** Only what is `unavailable` is tried again. */
function passing(error: unknown): never {
  if (codeOf(error) === 'unavailable' || !PASSING.has(codeOf(error))) throw error;
  throw new ThroughlineError('unavailable', messageOf(error), { cause: error });
}
