import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, ThroughlineError } from '../errors.js';
import type { RunningServer } from '../server/running-server.js';
import { note } from './cli.js';

const LOOK_EVERY_MS = 2000;
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
  watchDisk(hasStuckStream: (all: boolean) => Promise<boolean>): void;
  stop(): Promise<void>;
}

/** @param failed told when the server ends by itself, or does not start again */
export async function startOwnServer(
  start: () => Promise<RunningServer>,
  failed: (error: Error) => void,
): Promise<OwnServer> {
  let server = await start();
  const closing = new AbortController();
  let watching: Promise<void> | undefined;
  let restarting = false;

  const follow = (followed: RunningServer) => {
    void followed.exited.then(({ code, signal }) => {
      if (restarting) return;
      const how = signal ?? `exit ${code}`;
      failed(new ThroughlineError('unavailable', `the NATS server ended (${how}): see ${followed.logFile}`));
    });
  };
  follow(server);

  async function restart(): Promise<void> {
    note(
      '-- the disk was full, and there is room again: the NATS server is started again, which alone has it write',
    );
    restarting = true;
    try {
      await server.stop();
      server = await start();
      follow(server);
    } catch (error) {
      failed(error instanceof Error ? error : new Error(messageOf(error)));
    } finally {
      restarting = false;
    }
  }

  async function watch(hasStuckStream: (all: boolean) => Promise<boolean>): Promise<void> {
    let wasFull = false;
    let nextRestart = 0;
    while (!closing.signal.aborted) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => {});
      const free = await freeBytes(server.storeDir);
      wasFull ||= free < FULL;
      if (closing.signal.aborted || free < ROOM || performance.now() < nextRestart) continue;
      // A server that does not answer now is looked at again.
      const stuck = await hasStuckStream(wasFull).catch(() => undefined);
      if (stuck === undefined || closing.signal.aborted) continue;
      wasFull = false;
      if (!stuck) continue;
      nextRestart = performance.now() + BETWEEN_RESTARTS_MS;
      await restart();
    }
  }

  return {
    server,
    watchDisk(hasStuckStream) {
      watching = watch(hasStuckStream);
    },
    async stop() {
      closing.abort();
      await watching;
      await server.stop();
    },
  };
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
