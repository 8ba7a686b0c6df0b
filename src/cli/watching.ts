import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import { withinDeadline } from '../shared/backoff.js';
import { type Cli, coloured, note, out } from './command-context.js';
import { runUntilSignal } from './signals.js';

/** An announcement may get lost, and a change of the tasks file is not an event yet: then this is the longest wait. */
const LOOK_EVERY_MS = 2000;
/** Events that come together are shown together. */
const GATHER_MS = 50;
/** Between two looks at a file, in milliseconds. */
const FILE_EVERY_MS = 250;

/** The option of commands that can show their answer again and again. */
export const WATCH = ['-w, --watch', 'show it again each time that the session moves, until Ctrl-C'] as const;

interface Watched {
  /** Undefined: the whole installation, looked at every two seconds. */
  readonly session: Token | undefined;
  /** Returns the current text. */
  readonly show: () => Promise<string>;
  /** A file, its version that is shown first, and what is to be done before it is shown again once it has changed. */
  readonly file?: {
    readonly path: string;
    readonly version: string;
    readonly changed: () => Promise<void>;
  };
  /** True if the screen is cleared each time; otherwise texts are appended. */
  readonly redraws: boolean;
}

/**
 * Shows something again each time that its session moves, until SIGINT or SIGTERM. What fails at first fails the command;
 * what fails later is said, and tried again.
 */
export async function watchSession(cli: Cli, { session, show, file, redraws }: Watched): Promise<void> {
  const shutdown = new Shutdown();
  await runUntilSignal(cli, shutdown, async (failed) => {
    const { openPorts } = await import('./open-ports.js');
    const nats = await openPorts(cli, []);
    shutdown.add('the connection', () => nats.close());
    let wake = () => {};
    const next = () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      });
    // Before the first look: what comes during it is seen by the next one.
    let moved = next();
    const unwatch = session === undefined ? () => {} : nats.log.watch(session, () => wake());
    let shown = await show();
    print(cli, shown, redraws);

    let isStopped = false;
    let isFileNew = false;
    let version = file?.version;
    const lookAtFile = async (path: string) => {
      const now = await versionOf(path);
      if (now === version) return;
      version = now;
      isFileNew = true;
      wake();
    };
    const looking = file && setInterval(() => void lookAtFile(file.path), FILE_EVERY_MS);
    const refresh = async () => {
      const wasFileNew = isFileNew;
      isFileNew = false;
      if (wasFileNew) await file?.changed();
      const now = await show();
      if (now === shown || isStopped) return;
      shown = now;
      print(cli, shown, redraws);
    };
    const follow = async () => {
      let fault = '';
      for (;;) {
        await withinDeadline(LOOK_EVERY_MS, moved);
        if (isStopped) return;
        await sleep(GATHER_MS);
        moved = next();
        const said = await refresh().then(() => '', messageOf);
        if (said !== '' && said !== fault && !isStopped) note(`-- ${said}`);
        fault = said;
      }
    };
    const following = follow().catch(failed);
    shutdown.add('watching', async () => {
      isStopped = true;
      unwatch();
      clearInterval(looking);
      wake();
      await following;
    });
  });
}

/** Another one after each change of a file. To be asked for before the file is read, so that no change is missed. */
export async function versionOf(path: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(path).catch(() => ({ mtimeMs: 0, size: 0, ino: 0 }));
  return `${mtimeMs} ${size} ${ino}`;
}

const CLEAR = '\u001b[H\u001b[2J\u001b[3J';

function print(cli: Cli, text: string, redraws: boolean): void {
  if (redraws && process.stdout.isTTY) process.stdout.write(CLEAR);
  out(text, coloured(cli));
}
