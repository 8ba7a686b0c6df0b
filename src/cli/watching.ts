import { setInterval } from 'node:timers/promises';
import { messageOf } from '../contracts/errors.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import { type Cli, coloured, note, out } from './command-context.js';
import { runUntilSignal } from './signals.js';

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
