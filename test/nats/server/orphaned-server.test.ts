import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { identityOf, isRunning } from '../../../src/nats/server/process-identity.js';
import { orphanOn, stopOrphan } from '../../../src/nats/server/running-server.js';
import { startNatsServer } from '../../../src/nats/server/server-process.js';
import { nativeSource } from '../../support/nats-native.js';

const at = { host: '127.0.0.1', port: 1, serverName: 'none' };

let storeDir: string;
beforeEach(async () => {
  storeDir = await mkdtemp(join(tmpdir(), 'throughline-orphan-'));
});
afterEach(() => rm(storeDir, { recursive: true, force: true }));

it('a server whose starter runs is not an orphan, nor one on a store that is not there', async () => {
  const server = await startNatsServer({ source: await nativeSource(), storeDir });
  expect(await orphanOn(storeDir)).toBeUndefined();
  expect(await orphanOn(join(storeDir, 'missing'))).toBeUndefined();
  await server.stop();
});

it('an orphaned server that stands still is stopped too', async () => {
  const server = await startNatsServer({ source: await nativeSource(), storeDir });
  const identity = identityOf(server.pid);
  process.kill(server.pid, 'SIGSTOP');
  await stopOrphan({ ...at, ...identity });
  expect(isRunning(identity)).toBe(false);
  expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
});

it.each([
  ['started at another time', { pid: process.pid, started: 'another time' }],
  ['has a number only, and answers under no name', { pid: process.pid }],
])('a process that %s is not touched', async (_what, process) => {
  await expect(stopOrphan({ ...at, ...process })).rejects.toMatchObject({
    code: 'store_in_use',
    message: expect.stringContaining('cannot be identified; stop it by hand'),
  });
});
