import { setTimeout as sleep } from 'node:timers/promises';
import { ThroughlineError } from '../contracts/errors.js';
import { keepTrying } from '../sdk/keep-trying.js';
import { visible } from '../shared/terminal-text.js';
import { counted } from '../shared/text.js';
import { note } from './output.js';

/** Says `-- 128 of 500 commits published`, or without a total `-- 128 commits published`, as a progress line. */
export function showProgress(wanted: boolean, one: string, done: string) {
  const { reached, ended } = progressLine(wanted);
  const line = (count: number, total?: number) =>
    total === undefined
      ? `-- ${counted(count, one)} ${done}`
      : `-- ${count} of ${counted(total, one)} ${done}`;
  return { reached: (count: number, total?: number) => reached(() => line(count, total)), ended };
}

const LINE_EVERY_MS = 100;
const NOTE_EVERY_MS = 5000;

/**
 * Says how far a long command is, by what its text is then: on a terminal in one line that changes, elsewhere in a line every
 * few seconds, so that a log is not flooded.
 */
export function progressLine(wanted: boolean) {
  const inPlace = process.stderr.isTTY === true;
  const everyMs = inPlace ? LINE_EVERY_MS : NOTE_EVERY_MS;
  let saidAt = performance.now();
  let last: (() => string) | undefined;
  /** True while the cursor is at the end of the changing line. */
  let isOpen = false;
  const say = (text: string) => {
    saidAt = performance.now();
    if (!inPlace) return note(text);
    process.stderr.write(`\r\u001b[K${visible(text)}`);
    isOpen = true;
  };
  const close = () => {
    if (isOpen) process.stderr.write('\n');
    isOpen = false;
  };
  return {
    reached(text: () => string): void {
      last = text;
      if (wanted && performance.now() - saidAt >= everyMs) say(text());
    },
    ended(): void {
      if (wanted && inPlace && last !== undefined) say(last());
      last = undefined;
      close();
    },
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
