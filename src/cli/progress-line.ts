import { setTimeout as sleep } from 'node:timers/promises';
import { ThroughlineError } from '../contracts/errors.js';
import { keepTrying } from '../sdk/keep-trying.js';
import { visible } from '../shared/terminal-text.js';
import { counted } from '../shared/text.js';
import { note } from './output.js';

export interface Progress {
  reached(count: number): void;
  ended(): void;
}

/** Says `-- 128 of 500 commits published`, or without a total `-- 128 commits published`, as a progress line. */
export function showProgress(wanted: boolean, one: string, done: string, total?: number): Progress {
  const { reached, ended } = progressLine(wanted);
  const line = (count: number) =>
    total === undefined
      ? `-- ${counted(count, one)} ${done}`
      : `-- ${count} of ${counted(total, one)} ${done}`;
  return { reached: (count) => reached(() => line(count)), ended };
}

interface Transferred {
  readonly streams: number;
  readonly of: number;
  readonly bytes: number;
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

/** Says `-- 12 of 3,400 streams copied, 1.2 GB, 85.0 MB/s`, as a progress line. */
export function transferProgress(wanted: boolean, one: string, done: string) {
  const began = performance.now();
  const progress = progressLine(wanted);
  return {
    reached({ streams, of, bytes }: Transferred): void {
      progress.reached(() => {
        const seconds = Math.max(0.001, (performance.now() - began) / 1000);
        return `-- ${streams} of ${counted(of, one)} ${done}, ${inBytes(bytes)}, ${inBytes(bytes / seconds)}/s`;
      });
    },
    ended: progress.ended,
  };
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

function inBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1000 && unit < UNITS.length - 1; unit += 1) value /= 1000;
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
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
