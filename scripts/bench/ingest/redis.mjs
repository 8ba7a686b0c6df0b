// A redis-server of its own: appendonly, synced every second.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../free-port.mjs';
import { temporaryDir } from '../host.mjs';

/** Starts Redis and gives its port and process; `undefined` where there is no redis-server. */
export async function startRedis(shutdown) {
  const port = await freePort();
  const dir = await temporaryDir(shutdown);
  const args = ['--port', port, '--bind', '127.0.0.1', '--dir', dir, '--save', ''];
  const child = spawn('redis-server', [...args, '--appendonly', 'yes', '--appendfsync', 'everysec'], {
    stdio: 'ignore',
  });
  const started = await Promise.race([
    once(child, 'spawn').then(() => true),
    once(child, 'error').then(() => false),
  ]).catch(() => false);
  if (!started) return undefined;
  const exited = once(child, 'exit');
  shutdown.add('redis-server', async () => {
    child.kill('SIGTERM');
    await exited;
  });
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (tries === 200) throw new Error('redis-server does not answer');
    await sleep(20);
  }
  return { port, pid: child.pid };
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.end());
  });
}
