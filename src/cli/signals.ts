import { constants } from 'node:os';
import { setInterval } from 'node:timers/promises';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import { type Cli, coloured, note, out } from './command-context.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

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
  const onSignal = (signal: NodeJS.Signals) => {
    // A terminal that closes may send SIGHUP twice, by its shell and by the system.
    if (stopping && signal === 'SIGHUP') return;
    if (stopping) process.exit(128 + constants.signals[signal]);
    stopping = true;
    if (!started) {
      note(
        `throughline: stops once it has started, in at most ${shutdownMs} ms; another SIGINT or SIGTERM ends it at once`,
      );
      giveUp = setTimeout(refuse, shutdownMs, new ThroughlineError('unavailable', NOT_STARTED));
    }
    finish();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
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
  for (const signal of SIGNALS) process.off(signal, onSignal);
  if (failure === undefined && late !== undefined) throw late;
  // Report the first failure; a failed stop is only a note.
  if (late !== undefined) note(`throughline: ${messageOf(late)}`);
  if (failure !== undefined) throw failure;
}

const NOT_STARTED = 'was told to stop before it had started, and did not start by the deadline';

const LOOK_EVERY_MS = 1000;

export const WATCH = ['-w, --watch', 'show it again each time that it has changed, until Ctrl-C'] as const;

/**
 * Shows something again each time that it has changed, until SIGINT or SIGTERM. What fails at first fails the command; what
 * fails later is said, and tried again.
 *
 * @param redraws true if the screen of a terminal is cleared each time; otherwise texts are appended
 */
export async function watchText(cli: Cli, show: () => Promise<string>, redraws: boolean): Promise<void> {
  const shutdown = new Shutdown();
  await runUntilSignal(cli, shutdown, async () => {
    let shown = await show();
    print(cli, shown, redraws);
    const stop = new AbortController();
    let fault = '';
    const look = async () => {
      const now = await show();
      fault = '';
      if (now === shown || stop.signal.aborted) return;
      shown = now;
      print(cli, shown, redraws);
    };
    const follow = async () => {
      for await (const _ of setInterval(LOOK_EVERY_MS, undefined, { signal: stop.signal }))
        await look().catch((error: unknown) => {
          const said = messageOf(error);
          if (said !== fault && !stop.signal.aborted) note(`-- ${said}`);
          fault = said;
        });
    };
    // It ends when it is aborted.
    const following = follow().catch(() => {});
    shutdown.add('watching', async () => {
      stop.abort();
      await following;
    });
  });
}

const CLEAR = '\u001b[H\u001b[2J\u001b[3J';

function print(cli: Cli, text: string, redraws: boolean): void {
  if (redraws && process.stdout.isTTY) process.stdout.write(CLEAR);
  out(text, coloured(cli));
}
