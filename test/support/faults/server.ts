import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type RunningServer, startNatsServer } from '../../../src/nats/server/server-process.js';
import { freePort } from '../free-port.js';
import { nativeSource } from '../nats-native.js';
import type { PrivateNats } from '../nats-server.js';

export interface FaultyServerOptions {
  /** Configuration in the server's own language, added as it is. */
  readonly extraConfig?: string;
  /** Bytes that JetStream may store. Default: what the disk has. */
  readonly maxFileStore?: number | undefined;
  readonly serverName?: string;
}

/** A server process of our own, which can be killed, frozen, signalled, and started again with other limits. */
export interface FaultyServer extends Omit<PrivateNats, 'endCommand'> {
  readonly monitorUrl: string;
  signal(signal: NodeJS.Signals): void;
  /** Stops the process where it stands, with everything open. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Resolves when the process has ended by itself. */
  ended(): Promise<void>;
  /** Starts it again, by default as it was; it may run, or have been killed. */
  restart(options?: Pick<FaultyServerOptions, 'maxFileStore' | 'extraConfig'>): Promise<void>;
}

export async function startFaultyServer(options: FaultyServerOptions = {}): Promise<FaultyServer> {
  const source = await nativeSource();
  const storeDir = await mkdtemp(join(tmpdir(), 'throughline-faults-'));
  // The first start chooses the port.
  let port = 0;
  const monitorUrl = `127.0.0.1:${await freePort('127.0.0.1')}`;
  const start = ({ maxFileStore, ...more }: FaultyServerOptions): Promise<RunningServer> => {
    // Of two blocks of one name the server takes the last one.
    const limits = `jetstream { store_dir: ${JSON.stringify(storeDir)}, max_file_store: ${maxFileStore} }`;
    const given = more.extraConfig ?? options.extraConfig ?? '';
    const { serverName } = options;
    const name = serverName === undefined ? '' : `server_name: ${serverName}`;
    const http = `http: "${monitorUrl}"`;
    const extraConfig = [http, given, name, maxFileStore === undefined ? '' : limits].join('\n');
    return startNatsServer({ source, storeDir, port, extraConfig });
  };
  let server = await start(options);
  port = server.port;
  const stop = async () => {
    if (frozen) process.kill(server.pid, 'SIGCONT');
    await server.stop();
    await rm(storeDir, { recursive: true, force: true, maxRetries: 5 });
  };
  let frozen = false;
  return {
    backing: 'native',
    url: server.url,
    monitorUrl: `http://${monitorUrl}`,
    storeDir,
    signal: (signal) => process.kill(server.pid, signal),
    async freeze() {
      process.kill(server.pid, 'SIGSTOP');
      frozen = true;
      while (!(await processStatus(server.pid, 'state')).startsWith('T')) await sleep(5);
    },
    thaw() {
      process.kill(server.pid, 'SIGCONT');
      frozen = false;
    },
    ended: () => server.exited.then(() => undefined),
    kill: () => server.kill(),
    async restart(changed = options) {
      await server.stop();
      server = await start(changed);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** One column of what `ps` says of a process. */
export async function processStatus(pid: number, column: 'state' | 'rss'): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-o', `${column}=`, '-p', String(pid)]);
  return stdout.trim();
}
