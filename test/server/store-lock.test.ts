import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startNatsServer } from '../../src/server/process.js';
import { nativeSource } from '../support/nats-native.js';

const releases: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release();
});

async function started(storeDir: string) {
  const server = await startNatsServer({ source: await nativeSource(), storeDir });
  releases.push(() => server.stop());
  return server;
}

async function newStore(): Promise<string> {
  const storeDir = await mkdtemp(join(tmpdir(), 'throughline-lock-'));
  releases.push(() => rm(storeDir, { recursive: true, force: true }));
  return storeDir;
}

describe('a store', () => {
  it('that a server uses is refused to a second one, which names the process', async () => {
    const storeDir = await newStore();
    const first = await started(storeDir);
    await expect(started(storeDir)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(new RegExp(`in use by .* process ${first.pid}: .*--store`)),
    });
  });

  it('that a server uses is refused also while that server stands still', async () => {
    const storeDir = await newStore();
    const first = await started(storeDir);
    process.kill(first.pid, 'SIGSTOP');
    releases.push(async () => process.kill(first.pid, 'SIGCONT'));
    await expect(started(storeDir)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(new RegExp(`in use by .* process ${first.pid}: .*--store`)),
    });
  });

  it('is free again when its server was stopped, and when it was killed', async () => {
    const storeDir = await newStore();
    await (await started(storeDir)).stop();
    await (await started(storeDir)).kill();
    await started(storeDir);
  });
});
