import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type NatsConnection } from 'nats';
import { messageOf } from '../../src/contracts/errors.js';
import { nativeSource, startNativeNats } from './nats-native.js';

/** What a test may ask of its server. */
export interface TestNatsOptions {
  /** The largest message, in bytes. Default: the server's own, 1 MiB. */
  readonly maxPayloadBytes?: number | undefined;
  /** Whether to offer HTTP monitoring at `monitorUrl`. Default: false. */
  readonly monitor?: boolean | undefined;
  /** Configuration in the server's own language, added as it is. */
  readonly extraConfig?: string | undefined;
  /** Default: what `THROUGHLINE_TEST_NATS` says. Only the fixture's own tests choose. */
  readonly backing?: Backing | undefined;
}

export function configOf({ maxPayloadBytes, extraConfig = '' }: TestNatsOptions): string {
  return maxPayloadBytes === undefined ? extraConfig : `max_payload: ${maxPayloadBytes}\n${extraConfig}`;
}

/** What a test's server runs in. */
export type Backing = 'container' | 'native';

/** What each backing provides; the fixture adds the store directory. */
export interface BackedNats {
  readonly url: string;
  readonly monitorUrl: string | undefined;
  /** SIGKILL: what a crash does to the server. */
  kill(): Promise<void>;
  /** Brings the server up again, on the same port and the same store. It may run, or have been killed. */
  restart(): Promise<void>;
  /** Ends the server for good and leaves nothing of it running. */
  stop(): Promise<void>;
  /** Ends the server at once, from a shell. */
  readonly endCommand: string;
}

/** JetStream on a real server, with nothing in it, for one test or one file of tests. */
export interface TestNats extends AsyncDisposable {
  /** Holds the user and the password of the account. */
  readonly url: string;
  /** Of the streams of this account. */
  readonly storeDir: string;
  /** Removes everything that was stored. */
  stop(): Promise<void>;
}

/** A real server with its own port and its own store. */
export interface PrivateNats extends BackedNats, AsyncDisposable {
  readonly backing: Backing;
  /** Removed by `stop`. */
  readonly storeDir: string;
}

/** More than any file has in use at once. */
const ACCOUNTS = Array.from({ length: 48 }, (_, index) => `T${index + 1}`);

interface SharedNats {
  readonly server: PrivateNats;
  /** Accounts without a stream. */
  readonly free: string[];
}

let shared: Promise<SharedNats> | undefined;

export function sharedServers(): number {
  return shared === undefined ? 0 : 1;
}

/**
 * Takes an account of the server that the tests of this process share: that costs milliseconds. `stop` deletes its streams,
 * and another test may have it then.
 */
export async function startTestNats(): Promise<TestNats> {
  shared ??= startShared();
  const { server, free } = await shared;
  const account = free.shift();
  if (account === undefined) throw new Error(`all ${ACCOUNTS.length} accounts are in use: stop some of them`);
  const url = server.url.replace('://', `://${account}:${account}@`);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= empty(url).then(() => void free.push(account));
    return stopped;
  };
  const storeDir = join(server.storeDir, 'jetstream', account);
  return { url, storeDir, stop, [Symbol.asyncDispose]: stop };
}

async function startShared(): Promise<SharedNats> {
  const accounts = ACCOUNTS.map(
    (name) => `${name}: { jetstream: enabled, users: [ { user: ${name}, password: ${name} } ] }`,
  );
  const server = await startPrivateNats({ extraConfig: `accounts {\n${accounts.join('\n')}\n}` });
  endWithThisProcess(server);
  return { server, free: [...ACCOUNTS] };
}

/** Connects with nothing but the client's own library, which does not read the user in a URL. */
export function plainConnection(url: string, options: ConnectionOptions = {}): Promise<NatsConnection> {
  const { host, username, password } = new URL(url);
  return connect({ servers: host, ...(username !== '' && { user: username, pass: password }), ...options });
}

/** Returns the URL of something that forwards to a server from a port of this machine. */
export function urlOnPort(url: string, port: number): string {
  return url.replace(/\d+$/, String(port));
}

async function empty(url: string): Promise<void> {
  const connection = await plainConnection(url);
  try {
    const manager = await connection.jetstreamManager();
    for await (const name of manager.streams.names()) await manager.streams.delete(name);
  } finally {
    await connection.close();
  }
}

/** Ends the server and removes its store when this process ends, by a signal as well: a shell waits for the end of a pipe. */
function endWithThisProcess({ endCommand, storeDir }: PrivateNats): void {
  const script = `cat; ${endCommand}; rm -rf "$1"`;
  const watcher = spawn('sh', ['-c', script, 'sh', storeDir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  // A pipe to another process is a socket.
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
}

/**
 * Starts a server of its own: for tests that kill or restart it, look at its store or its monitoring, or configure it.
 *
 * It runs in a container where an engine and the image can be had, else natively. `THROUGHLINE_TEST_NATS=native|container`
 * insists on one. Throws, with what to install, when there is no server to be had: a test that needs NATS fails without it,
 * and is never skipped.
 */
export async function startPrivateNats(options: TestNatsOptions = {}): Promise<PrivateNats> {
  const backing = options.backing ?? (await chosenBacking()).backing;
  const storeDir = await mkdtemp(join(tmpdir(), 'throughline-nats-'));
  const removeStore = () => rm(storeDir, { recursive: true, force: true, maxRetries: 5 });
  let server: BackedNats;
  try {
    const start = backing === 'container' ? (await containers()).startContainerNats : startNativeNats;
    server = await start(storeDir, options);
  } catch (fault) {
    await removeStore();
    throw fault;
  }
  const stop = async () => {
    await server.stop();
    await removeStore();
  };
  return { ...server, backing, storeDir, stop, [Symbol.asyncDispose]: stop };
}

/**
 * Settles the backing for this process and the ones it starts, and installs the server if need be: for a global
 * set-up, so that test files which run side by side do not each build one. Never throws: the first test that
 * needs NATS will.
 */
export async function prepareTestNats(): Promise<void> {
  try {
    const { backing, why } = await chosenBacking();
    // Commands of tests have a home of their own, where they would build another one.
    if (backing === 'native') process.env.NATS_SERVER_BIN ??= (await nativeSource()).path;
    process.env.THROUGHLINE_TEST_NATS = backing;
    const report = process.env.THROUGHLINE_TEST_FILES;
    if (report !== undefined && why !== undefined)
      appendFileSync(report, `${JSON.stringify({ noContainer: why })}\n`);
  } catch (fault) {
    console.warn(messageOf(fault));
  }
}

/** With `why` there is no container, where nobody has chosen. */
async function chosenBacking(): Promise<{ readonly backing: Backing; readonly why?: string }> {
  const wanted = process.env.THROUGHLINE_TEST_NATS || 'auto';
  if (wanted === 'native') return { backing: 'native' };
  if (wanted !== 'auto' && wanted !== 'container') {
    throw new Error(`THROUGHLINE_TEST_NATS=${wanted}: use native, container, or leave it unset`);
  }
  const reason = await (await containers()).whyNoContainer();
  if (reason === undefined) return { backing: 'container' };
  if (wanted === 'auto') return { backing: 'native', why: reason };
  throw new Error(
    `THROUGHLINE_TEST_NATS=container, but ${reason}: start Docker (\`docker info\` must answer), or use ` +
      'THROUGHLINE_TEST_NATS=native, which needs nats-server or Go instead',
  );
}

/** Loaded only where it may be used: testcontainers takes half a second to import. */
function containers() {
  return import('./nats-container.js');
}
