// Shared by the benchmarks: a server of their own, ports on it, and figures from many runs.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../dist/config.js';
import { natsOptions } from '../../dist/main.js';
import { openNats } from '../../dist/nats/open.js';
import { silentLogger } from '../../dist/ports/logger.js';
import { findNatsServer } from '../../dist/server/find.js';
import { startNatsServer } from '../../dist/server/process.js';

/** Runs `work` with ports on a nats-server of its own, and leaves nothing behind. */
export async function withServer(work) {
  const config = loadConfig({ ...process.env, NATS_URL: undefined });
  const { platform, arch } = process;
  const source = await findNatsServer({
    env: config.env,
    cacheDir: config.cacheDir,
    platform,
    arch,
    progress: console.error,
  });
  const storeDir = await mkdtemp(join(tmpdir(), 'throughline-bench-'));
  const server = await startNatsServer({ source, storeDir });
  const nats = await openNats(natsOptions(server.url, 'bench', config, silentLogger));
  try {
    return await work({ nats, config, version: source.version });
  } finally {
    await nats.close();
    await server.stop();
    await rm(storeDir, { recursive: true, force: true });
  }
}

/** Runs `work` `runs` times and gives the times in milliseconds, sorted. */
export async function timed(runs, work, name = '') {
  const times = [];
  for (let run = 0; run < runs; run += 1) {
    const started = performance.now();
    await work(run);
    times.push(performance.now() - started);
    if (process.stderr.isTTY) process.stderr.write(`\r${name} ${run + 1}/${runs}`);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  return times.sort((a, b) => a - b);
}

export function quantile(sorted, q) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
}

/** A row of figures, and a line that says whether the goal was met. */
export function row(name, sorted) {
  const figure = (q) => quantile(sorted, q).toFixed(2).padStart(9);
  console.log(`${name.padEnd(44)} p50 ${figure(0.5)} ms   p99 ${figure(0.99)} ms   n ${sorted.length}`);
}

export function verdict(goal, met, figure) {
  console.log(`${met ? 'met   ' : 'missed'} ${goal}: ${figure}`);
  if (!met) process.exitCode = 1;
}
