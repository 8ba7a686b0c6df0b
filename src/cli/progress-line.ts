import { setTimeout as sleep } from 'node:timers/promises';
import { ThroughlineError } from '../contracts/errors.js';
import { keepTrying } from '../sdk/keep-trying.js';
import { note } from './output.js';

const NOTE_EVERY_MS = 5000;

/** Says on a terminal how far a long command is, in a line every few seconds. */
export function progressLine() {
  let notedAt = performance.now();
  return (text: string): void => {
    if (!process.stderr.isTTY || performance.now() - notedAt < NOTE_EVERY_MS) return;
    notedAt = performance.now();
    note(`-- ${text}`);
  };
}

/** Longest time to retry while the server is away during a long operation. */
const TRIED_MS = 60_000;
const SHORTEST_PAUSE_MS = 50;

/** Retries a request that is rate limited, and for a minute one that no service answers. */
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
