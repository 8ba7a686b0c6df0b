import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { BIN, cleanEnv } from '../support/cli.js';
import { startListener } from '../support/listener.js';

/** A `serve` that waits for a server that says nothing. */
async function starting(env: Record<string, string>) {
  let connected = () => {};
  const isConnected = new Promise<void>((resolve) => {
    connected = resolve;
  });
  const silent = await startListener(() => connected());
  const child = spawn(process.execPath, [BIN, 'admin', 'serve'], {
    env: cleanEnv({ NATS_URL: silent.url, ...env }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const stderr = text(child.stderr);
  await isConnected;
  return { child, stderr, ended, [Symbol.asyncDispose]: () => silent[Symbol.asyncDispose]() };
}

it('a stop signal ends a start that hangs within its deadline', async () => {
  await using serve = await starting({ THROUGHLINE_TUNING: 'shutdownMs=300' });
  serve.child.kill('SIGTERM');
  expect(await serve.ended).toEqual([1, null]);
  const said = await serve.stderr;
  expect(said).toContain(
    'stops once it has started, in at most 300 ms; another SIGINT or SIGTERM ends it at once',
  );
  expect(said).toContain(
    'was told to stop before it had started, and did not start by the deadline (unavailable)',
  );
});

it('a second signal ends the process at once, also while it starts', async () => {
  await using serve = await starting({ THROUGHLINE_TUNING: 'shutdownMs=100000' });
  serve.child.kill('SIGINT');
  await once(serve.child.stderr, 'data');
  serve.child.kill('SIGINT');
  expect(await serve.ended).toEqual([130, null]);
});

it('a second SIGHUP counts as the same closing of a terminal', async () => {
  await using serve = await starting({ THROUGHLINE_TUNING: 'shutdownMs=300' });
  serve.child.kill('SIGHUP');
  await once(serve.child.stderr, 'data');
  serve.child.kill('SIGHUP');
  expect(await serve.ended).toEqual([1, null]);
});
