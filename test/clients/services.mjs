import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../scripts/free-port.mjs';
import { run } from './processes.mjs';

/** The built command line. */
export const BIN = fileURLToPath(new URL('../../dist/cli/bin.cjs', import.meta.url));

/** `throughline up` on a free port of loopback: where it is, a command line that asks it, and its end. It reads plans below a folder. */
export async function startThroughline(store, plans) {
  const port = await freePort();
  const env = { ...process.env, THROUGHLINE_AUTOSTART: '0' };
  for (const name of ['NATS_URL', 'THROUGHLINE_SESSION']) delete env[name];
  const child = spawn(process.execPath, [BIN, 'up', '--port', String(port), '--store', store], {
    env: { ...env, THROUGHLINE_TASKS_ROOTS: plans },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  // Whatever happens here, it does not stay.
  process.on('exit', () => child.kill('SIGTERM'));
  await Promise.race([
    once(child.stdout, 'data'),
    exited.then(([code]) => Promise.reject(new Error(`throughline up ended with ${code}`))),
  ]);
  const url = `nats://127.0.0.1:${port}`;
  return {
    url,
    store,
    async ask(...args) {
      const { code, output, stdout } = await run(process.execPath, [BIN, ...args, '--json'], {
        env: { ...env, NATS_URL: url },
      });
      if (code !== 0) throw new Error(`throughline ${args.join(' ')} ended with ${code}: ${output}`);
      return JSON.parse(stdout);
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
