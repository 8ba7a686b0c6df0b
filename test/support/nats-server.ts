import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
}

/** A real server with JetStream, its own port and its own store, for one test or one file of tests. */
export interface TestNats extends BackedNats, AsyncDisposable {
  readonly backing: Backing;
  /** Removed by `stop`. */
  readonly storeDir: string;
}

/**
 * Starts a server, in a container where an engine and the image can be had, else natively.
 * `THROUGHLINE_TEST_NATS=native|container` insists on one. Throws, with what to install, when there is no
 * server to be had: a test that needs NATS fails without it, and is never skipped.
 */
export async function startTestNats(options: TestNatsOptions = {}): Promise<TestNats> {
  const backing = options.backing ?? (await chosenBacking());
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
    const backing = await chosenBacking();
    if (backing === 'native') await nativeSource();
    process.env.THROUGHLINE_TEST_NATS = backing;
  } catch (fault) {
    console.warn(messageOf(fault));
  }
}

async function chosenBacking(): Promise<Backing> {
  const wanted = process.env.THROUGHLINE_TEST_NATS || 'auto';
  if (wanted === 'native') return 'native';
  if (wanted !== 'auto' && wanted !== 'container') {
    throw new Error(`THROUGHLINE_TEST_NATS=${wanted}: use native, container, or leave it unset`);
  }
  const reason = await (await containers()).whyNoContainer();
  if (reason === undefined) return 'container';
  if (wanted === 'auto') return 'native';
  throw new Error(
    `THROUGHLINE_TEST_NATS=container, but ${reason}: start Docker (\`docker info\` must answer), or use ` +
      'THROUGHLINE_TEST_NATS=native, which needs nats-server or Go instead',
  );
}

/** Loaded only where it may be used: testcontainers takes half a second to import. */
function containers() {
  return import('./nats-container.js');
}
