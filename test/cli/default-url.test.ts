import { chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEFAULT_URL, usualUrl } from '../../src/cli/default-url.js';
import type { RunningServer } from '../../src/nats-server/running-server.js';
import { startNatsServer } from '../../src/nats-server/server-process.js';
import { nativeSource } from '../support/nats-native.js';

let project: string;
let below: string;
let server: RunningServer;
beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'throughline-url-'));
  below = join(project, 'src', 'deep');
  await mkdir(below, { recursive: true });
  server = await startNatsServer({ source: await nativeSource(), storeDir: join(project, '.throughline') });
});
afterEach(async () => {
  await server.stop();
  await rm(project, { recursive: true, force: true });
});

it('a command uses the server that runs in its folder or in one above it, whatever its port', async () => {
  expect([usualUrl(project), usualUrl(below)]).toEqual([server.url, server.url]);
  await server.stop();
  expect(usualUrl(below)).toBe(DEFAULT_URL);
});

it('a command does not look above its git work tree', async () => {
  await mkdir(join(project, 'src', '.git'));
  expect(usualUrl(below)).toBe(DEFAULT_URL);
});

it.skipIf(process.getuid?.() !== 0)(
  'a command does not use what another user runs in a folder above',
  async () => {
    await chown(join(project, '.throughline'), 12_345, 12_345);
    expect([usualUrl(project), usualUrl(below)]).toEqual([server.url, DEFAULT_URL]);
  },
);

it('a folder that names a server on another machine is not believed', async () => {
  const store = join(project, '.throughline');
  const [lock = ''] = (await readdir(store)).filter((name) => name.endsWith('.lock'));
  const note = await readFile(join(store, lock), 'utf8');
  await writeFile(join(store, lock), note.replace('"127.0.0.1"', '"192.0.2.1"'));
  expect(note).toContain('"127.0.0.1"');
  expect(usualUrl(project)).toBe(DEFAULT_URL);
});
