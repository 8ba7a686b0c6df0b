import { constants } from 'node:os';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import type { Shutdown } from '../engine/runtime/shutdown.js';
import { type Cli, note } from './command-context.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Calls `onFirst` with the exit code that shells expect after the first signal; the second one ends the process at once.
 *
 * @returns removes the listeners
 */
export function onFirstSignal(onFirst: (code: number) => void): () => void {
  let isSignalled = false;
  const onSignal = (signal: NodeJS.Signals) => {
    const code = 128 + constants.signals[signal];
    // A terminal that closes may send SIGHUP twice, by its shell and by the system.
    if (isSignalled && signal === 'SIGHUP') return;
    if (isSignalled) process.exit(code);
    isSignalled = true;
    onFirst(code);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

/**
 * Starts something and keeps it running until SIGINT, SIGTERM or SIGHUP, which the closing of its terminal sends, or
 * until it says that it failed; then stops it within the deadline, and ends by force what does not stop. While it starts,
 * a signal waits for that, no longer than the deadline either. A second SIGINT or SIGTERM ends the process at once.
 */
export async function runUntilSignal(
  cli: Cli,
  shutdown: Shutdown,
  start: (ended: (error?: Error) => void) => Promise<void>,
): Promise<void> {
  const { shutdownMs } = cli.config;
  let started = false;
  let stopping = false;
  let giveUp: NodeJS.Timeout | undefined;
  let finish: (error?: Error) => void = () => {};
  const finished = new Promise<Error | undefined>((resolve) => {
    finish = resolve;
  });
  let refuse: (error: Error) => void = () => {};
  const givenUp = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  const release = onFirstSignal(() => {
    if (stopping) return;
    stopping = true;
    if (!started) {
      note(
        `throughline: stops once it has started, in at most ${shutdownMs} ms; another SIGINT or SIGTERM ends it at once`,
      );
      giveUp = setTimeout(refuse, shutdownMs, new ThroughlineError('unavailable', NOT_STARTED));
    }
    finish();
  });
  let failure: unknown;
  try {
    const starting = start((error) => {
      if (!stopping) finish(error);
    });
    await Promise.race([starting, givenUp]);
    started = true;
    failure = await finished;
  } catch (error) {
    failure = error;
  }
  stopping = true;
  clearTimeout(giveUp);
  const late = await shutdown.release(shutdownMs).catch((error: unknown) => error);
  release();
  if (failure === undefined && late !== undefined) throw late;
  // Report the first failure; a failed stop is only a note.
  if (late !== undefined) note(`throughline: ${messageOf(late)}`);
  if (failure !== undefined) throw failure;
}

const NOT_STARTED = 'was told to stop before it had started, and did not start by the deadline';
