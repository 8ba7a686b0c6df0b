import { setTimeout as sleep } from 'node:timers/promises';
import { ThroughlineError } from '../contracts/errors.js';
import { keepTrying } from '../sdk/keep-trying.js';

/** How long a server may be away while something long goes on. */
const TRIED_MS = 60_000;
const SHORTEST_PAUSE_MS = 50;

/** Asks again as often as requests come too fast, and for a minute while nobody answers. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await keepTrying(ask, { timeoutMs: TRIED_MS });
    } catch (error) {
      if (!(error instanceof ThroughlineError) || error.code !== 'rate_limited') throw error;
      await sleep(Math.max(SHORTEST_PAUSE_MS, Number(error.details?.retryAfterMs ?? 0)));
    }
  }
}
