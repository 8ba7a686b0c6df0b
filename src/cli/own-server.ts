import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import { findNatsServer } from '../nats/server/find-server.js';
import type { NatsServerSource } from '../nats/server/install-server.js';
import type { RunningServer } from '../nats/server/server-process.js';
import type { Command } from './cli-command.js';
import { cliOf, note, out } from './command-context.js';

const ASK_EVERY_MS = 30_000;
/** A disk that is broken, and not full, must not have the server started again and again. */
const BETWEEN_RESTARTS_MS = 60_000;

/** A server keeps acknowledging into files that are deleted. */
const LOOK_EVERY_MS = 500;

function inodeOf(storeDir: string): number | undefined {
  return statSync(join(storeDir, 'jetstream'), { throwIfNoEntry: false })?.ino;
}

export type OwnServer = Awaited<ReturnType<typeof startOwnServer>>;

/** @param failed told when the server ends by itself, or does not start again */
export async function startOwnServer(start: () => Promise<RunningServer>, failed: (error: Error) => void) {
  let server = await start();
  const closing = new AbortController();
  let restarting: Promise<void> | undefined;
  let announced: string | null | undefined;

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
  const { storeDir } = server;
  const kept = inodeOf(storeDir);
  const watchingStore = setInterval(() => {
    if (inodeOf(storeDir) === kept) return;
    clearInterval(watchingStore);
    const fix = 'what is published now would be lost; run the same "throughline up" again, on a new store';
    failed(
      new ThroughlineError('unavailable', `the store ${storeDir} was deleted while its server ran: ${fix}`),
    );
  }, LOOK_EVERY_MS).unref();
  closing.signal.addEventListener('abort', () => clearInterval(watchingStore));

  async function restart(): Promise<void> {
    note(
      '-- a stream stores nothing since a write failed, and the disk has room: restarting the NATS server',
    );
    try {
      await server.stop();
      server = await start();
      follow(server);
      if (announced !== undefined) server.announce(announced);
    } catch (error) {
      failed(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  /**
   * Starts it again where a failed write has stopped a stream, until `stopWatching` or `stop`.
   *
   * @param hasStuckStream fails while the disk is full, because it writes a message
   */
  async function watchDisk(hasStuckStream: () => Promise<boolean>, askEveryMs = ASK_EVERY_MS): Promise<void> {
    const { signal } = closing;
    let nextRestart = 0;
    for (;;) {
      await sleep(askEveryMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      if (performance.now() < nextRestart) continue;
      // It fails while the disk is full, and while the server is away.
      const isStuck = await hasStuckStream().catch(() => false);
      if (signal.aborted) return;
      if (!isStuck) continue;
      nextRestart = performance.now() + BETWEEN_RESTARTS_MS;
      restarting = restart();
      await restarting;
      restarting = undefined;
    }
  }

  return {
    /** The server as first started; a restart replaces the process but keeps its address. */
    server,
    watchDisk,
    stopWatching: () => closing.abort(),
    /** Announces the inspector for the server, and again for one that replaces it. */
    announce(inspector: string | null) {
      announced = inspector;
      server.announce(inspector);
    },
    async stop() {
      closing.abort();
      await restarting;
      await server.stop();
    },
  };
}

export function natsServerCommand(program: Command): void {
  program
    .command('nats-server')
    .description('Looks in this order: NATS_SERVER_BIN, PATH, the cache, the release archive, go install.')
    .option('--json', 'print where it was found as well')
    .examples('throughline admin nats-server', 'throughline admin nats-server --json')
    .action(async (options: { json?: boolean }, command: Command) => {
      const { config } = cliOf(command);
      const source = await serverToStart(config);
      if (options.json) return out(JSON.stringify(source));
      out(source.path);
    });
}

/** The server that `up` starts; what is tried and installed on the way is said on standard error. */
export function serverToStart({ env, cacheDir }: Config): Promise<NatsServerSource> {
  const { platform, arch } = process;
  return findNatsServer({ env, cacheDir, platform, arch, progress: note });
}
