import { constants } from 'node:os';
import { messageOf } from '../errors.js';
import type { Releasers } from '../lifecycle.js';
import { type Cli, note } from './cli.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Starts something and keeps it running until SIGINT, SIGTERM or SIGHUP, which the closing of its terminal sends, or
 * until it says that it failed; then stops it within the deadline, and ends by force what does not stop. A second signal
 * ends the process at once.
 */
export async function runUntilSignal(
  cli: Cli,
  releasers: Releasers,
  start: (failed: (error: Error) => void) => Promise<void>,
): Promise<void> {
  let stopping = false;
  let finish: (error?: Error) => void = () => {};
  const finished = new Promise<Error | undefined>((resolve) => {
    finish = resolve;
  });
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(128 + constants.signals[signal]);
    stopping = true;
    finish();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  let failure: unknown;
  try {
    // A signal that comes while things start stops them as soon as they have started.
    await start((error) => {
      if (!stopping) finish(error);
    });
    failure = await finished;
  } catch (error) {
    failure = error;
  }
  stopping = true;
  const late = await releasers.release(cli.config.shutdownMs).catch((error: unknown) => error);
  if (late !== undefined) endByForce();
  for (const signal of SIGNALS) process.off(signal, onSignal);
  if (failure === undefined && late !== undefined) throw late;
  // What went wrong first is what counts; that something did not stop either is a note beside it.
  if (late !== undefined) note(`throughline: ${messageOf(late)}`);
  if (failure !== undefined) throw failure;
}

const LAST_WORDS_MS = 500;

/** Ends the process soon, should something that could not be stopped keep it alive. */
function endByForce(): void {
  setTimeout(() => process.exit(process.exitCode ?? 1), LAST_WORDS_MS).unref();
}
