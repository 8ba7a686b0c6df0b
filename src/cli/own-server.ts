import { statfs } from 'node:fs/promises';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import type { RunningServer } from '../nats-server/running-server.js';
import { pause } from '../runtime/pauses.js';
import { note } from './command-context.js';

const LOOK_EVERY_MS = 1000;
/** Free bytes below which the disk counts as full, and from which there is room again. */
const FULL = 1024 * 1024;
const ROOM = 8 * 1024 * 1024;
/** A disk that is broken, and not full, must not have the server started again and again. */
const BETWEEN_RESTARTS_MS = 60_000;

/** The server that `up` has started, and stops. */
export interface OwnServer {
  /** As it was started at first; after a restart another process is at the same place. */
  readonly server: RunningServer;
  /** Starts it again where a full disk has stopped its streams and there is room again; until `stop`. */
  watchDisk(hasStuckStream: () => Promise<boolean>): void;
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
      failed(new ThroughlineError('unavailable', `the NATS server ended (${how}): see ${followed.logFile}`));
    });
  };
  follow(server);

  async function restart(): Promise<void> {
    note('-- the disk was full and has room again: restarting the NATS server, so that it can write');
    try {
      await server.stop();
      server = await start();
      follow(server);
    } catch (error) {
      failed(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  async function watch(hasStuckStream: () => Promise<boolean>): Promise<void> {
    let wasFull = false;
    let nextRestart = 0;
    while (!closing.signal.aborted) {
      await pause(LOOK_EVERY_MS, closing.signal);
      const free = await freeBytes(server.storeDir);
      if (free === undefined) continue;
      wasFull ||= free < FULL;
      if (!wasFull || free < ROOM || performance.now() < nextRestart) continue;
      // A server that does not answer now, or takes nothing, is looked at again.
      const stuck = await hasStuckStream().catch(() => undefined);
      if (stuck === undefined || closing.signal.aborted) continue;
      wasFull = stuck;
      if (!stuck) continue;
      nextRestart = performance.now() + BETWEEN_RESTARTS_MS;
      restarting = restart();
      await restarting;
      restarting = undefined;
    }
  }

  return {
    server,
    watchDisk(hasStuckStream) {
      void watch(hasStuckStream);
    },
    async stop() {
      closing.abort();
      await restarting;
      await server.stop();
    },
  };
}

async function freeBytes(path: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
