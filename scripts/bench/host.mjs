// What benchmarks run on: nats-servers of their own, processes of the product, and the product's ports.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runningUp } from '../../dist/cli/detached-up.js';
import { loadConfig } from '../../dist/config/config.js';
import { silentLogger } from '../../dist/engine/ports/logger-and-clock.js';
import { openNats } from '../../dist/nats/open-nats.js';
import { findNatsServer } from '../../dist/nats/server/find-server.js';
import { startNatsServer } from '../../dist/nats/server/server-process.js';
import { natsOptions } from '../../dist/services/common/service-context.js';
import { freePort } from '../free-port.mjs';

export const throughlineBin = fileURLToPath(new URL('../../dist/cli/bin.cjs', import.meta.url));

/** The configuration with nothing set. */
export const config = loadConfig({ XDG_CACHE_HOME: process.env.XDG_CACHE_HOME });

/** The nats-server that the product itself would start. */
export function findServer() {
  const { env, platform, arch } = process;
  return findNatsServer({ env, cacheDir: config.cacheDir, platform, arch, progress: console.error });
}

/** A directory that goes away with the shutdown. */
export async function temporaryDir(shutdown) {
  const dir = await mkdtemp(join(tmpdir(), 'throughline-bench-'));
  shutdown.add('a directory', () => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A nats-server of its own, with its store on disk. */
export async function startServer(shutdown) {
  const storeDir = await temporaryDir(shutdown);
  const server = await startNatsServer({ source: await findServer(), storeDir });
  shutdown.add('nats-server', () => server.stop());
  return server;
}

/** The product's ports on a server. */
export async function openPorts(url, shutdown, settings = config) {
  const nats = await openNats(natsOptions(url, 'bench', settings, silentLogger));
  shutdown.add('the NATS connection', () => nats.close());
  return nats;
}

/** A process of the product, once it says that it is ready. */
export function startThroughline(args, url, shutdown, env = {}) {
  return startScript(throughlineBin, args, shutdown, {
    THROUGHLINE_LOG_LEVEL: 'warn',
    ...env,
    NATS_URL: url,
  });
}

/** What `throughline up --detach` starts on a store, once it is ready. */
export async function startUp(storeDir, shutdown) {
  const env = { ...process.env, NATS_URL: '', NATS_SERVER_BIN: (await findServer()).path };
  const run = (...args) =>
    spawnSync(process.execPath, [throughlineBin, ...args, '--store', storeDir], { env });
  const port = String(await freePort());
  const { stderr } = run('up', '--detach', '--no-inspector', '--port', port);
  shutdown.add('the detached up', () => run('down'));
  const up = await runningUp(storeDir);
  if (up === undefined) throw new Error(`up did not start: ${stderr}`);
  return up;
}

/** A process of node, once it has printed a line with `ready`. */
export async function startScript(script, args, shutdown, env = {}) {
  const flags = process.env.BENCH_NODE_FLAGS?.split(' ') ?? [];
  const child = spawn(process.execPath, [...flags, script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  shutdown.add(script, async () => {
    child.kill('SIGTERM');
    await exited;
    process.off('exit', end);
  });
  const lines = createInterface({ input: child.stdout });
  const ready = new Promise((resolve) => lines.on('line', (line) => line.includes('ready') && resolve()));
  await Promise.race([
    ready,
    exited.then(([code]) => {
      throw new Error(`${script} ended with code ${code} before it was ready`);
    }),
  ]);
  return child;
}

/** A tick of the clock by which Linux counts processor time: 100 a second on all that Node runs on. */
const TICK_MS = 10;

/** Processor time of processes so far, in milliseconds; `undefined` where the system does not tell it under /proc. */
export function cpuMs(pids) {
  if (process.platform !== 'linux') return undefined;
  const ticks = pids.flatMap((pid) => {
    // The name, in parentheses, may hold anything; of what follows, user and system time are the 12th and 13th.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1).trim().split(' ');
    return [Number(fields[11]), Number(fields[12])];
  });
  return ticks.reduce((sum, each) => sum + each, 0) * TICK_MS;
}
