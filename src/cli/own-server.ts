import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import type { RunningServer } from '../nats/server/running-server.js';
import { note } from './command-context.js';

const LOOK_EVERY_MS = 1000;
/** A write may fail without the disk having been seen full: filled and freed between two looks, or over a quota. */
const ASK_EVERY_MS = 30_000;
/** Free bytes below which the disk counts as full, and from which there is room again. */
const FULL = 1024 * 1024;
const ROOM = 8 * 1024 * 1024;
/** A disk that is broken, and not full, must not have the server started again and again. */
const BETWEEN_RESTARTS_MS = 60_000;

export interface WatchOptions {
  /** Between two looks at the disk, in milliseconds. Default: 1000. */
  readonly lookEveryMs?: number;
  /** Between two questions to the server where the disk was not seen full, in milliseconds. Default: 30,000. */
  readonly askEveryMs?: number;
  /** Free bytes where a path is; `undefined` where they cannot be told. */
  readonly freeBytes?: (path: string) => Promise<number | undefined>;
}

/** The server that `up` has started, and stops. */
export interface OwnServer {
  /** The server as first started; a restart replaces the process but keeps its address. */
  readonly server: RunningServer;
  /** Starts it again where a failed write has stopped a stream and there is room; until `stopWatching` or `stop`. */
  watchDisk(hasStuckStream: () => Promise<boolean>, options?: WatchOptions): void;
  stopWatching(): void;
  stop(): Promise<void>;
}

/** @param failed told when the server ends by itself, or does not start again */
export async function startOwnServer(
  start: () => Promise<RunningServer>,
  failed: (error: Error) => void,
): Promise<OwnServer> {
  let server = await start();
  const closing = new AbortController();
  let restarting: Promise<void> | undefined;

  const follow = (followed: RunningServer) => {
    void followed.exited.then(({ code, signal }) => {
      if (restarting !== undefined) return;
      const how = signal ?? `exit ${code}`;
      failed(
        new ThroughlineError(
          'unavailable',
          `the NATS server ended (${how}): see ${followed.logFile}, then run the same "throughline up" again; what is stored is kept`,
        ),
      );
    });
  };
  follow(server);

  async function restart(wasFull: boolean): Promise<void> {
    const why = wasFull
      ? 'the disk was full and has room again'
      : 'a stream stores nothing since a write failed, and the disk has room';
    note(`-- ${why}: restarting the NATS server, so that it can write`);
    try {
      await server.stop();
      server = await start();
      follow(server);
    } catch (error) {
      failed(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  async function watch(
    hasStuckStream: () => Promise<boolean>,
    { lookEveryMs = LOOK_EVERY_MS, askEveryMs = ASK_EVERY_MS, freeBytes = freeBytesAt }: WatchOptions,
  ): Promise<void> {
    const { signal } = closing;
    let wasFull = false;
    let nextRestart = 0;
    let nextAsk = performance.now() + askEveryMs;
    let hasFailed = false;

    /** `undefined` when the server does not answer now, or takes nothing: it is asked again. */
    async function ask(): Promise<boolean | undefined> {
      try {
        const stuck = await hasStuckStream();
        hasFailed = false;
        return stuck;
      } catch (error) {
        // Once, and not every time.
        if (!hasFailed && !signal.aborted)
          note(`-- whether every stream can write cannot be told now: ${messageOf(error)}`);
        hasFailed = true;
        return undefined;
      } finally {
        nextAsk = performance.now() + askEveryMs;
      }
    }

    for (;;) {
      await sleep(lookEveryMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const free = await freeBytes(server.storeDir);
      if (free === undefined) continue;
      wasFull ||= free < FULL;
      const now = performance.now();
      if (free < ROOM || now < nextRestart || (!wasFull && now < nextAsk)) continue;
      const stuck = await ask();
      if (signal.aborted) return;
      if (stuck === true) {
        nextRestart = performance.now() + BETWEEN_RESTARTS_MS;
        restarting = restart(wasFull);
        await restarting;
        restarting = undefined;
      }
      // After a restart, ask again soon whether it helped.
      wasFull = stuck ?? wasFull;
    }
  }

  return {
    server,
    watchDisk(hasStuckStream, options = {}) {
      void watch(hasStuckStream, options);
    },
    stopWatching: () => closing.abort(),
    async stop() {
      closing.abort();
      await restarting;
      await server.stop();
    },
  };
}

async function freeBytesAt(path: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
