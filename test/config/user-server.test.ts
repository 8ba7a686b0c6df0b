import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  DEFAULT_URL,
  installationKey,
  serverInUse,
  serverText,
  TOKEN_FILE,
  userStore,
  usualUrl,
} from '../../src/config/user-server.js';
import type { RunningServer } from '../../src/nats/server/running-server.js';
import { startNatsServer } from '../../src/nats/server/server-process.js';
import { nativeSource } from '../support/nats-native.js';

let stateDir: string;
let server: RunningServer;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'throughline-user-'));
  server = await startNatsServer({ source: await nativeSource(), storeDir: userStore(stateDir) });
});
afterEach(async () => {
  await server.stop();
  await rm(stateDir, { recursive: true, force: true });
});

it('the server in the state directory is used whatever its port, and the default URL once it has ended', async () => {
  expect(usualUrl(stateDir)).toBe(server.url);
  await server.stop();
  expect(usualUrl(stateDir)).toBe(DEFAULT_URL);
});

it('the token of the server is used, unless the caller has credentials', async () => {
  const file = join(userStore(stateDir), TOKEN_FILE);
  await writeFile(file, 'a-token-for-this-test\n');
  expect(usualUrl(stateDir)).toBe(server.url.replace('//', '//a-token-for-this-test@'));
  expect(usualUrl(stateDir, { user: 'me', password: 'secret' })).toBe(server.url);
});

it('a token behind a link is not read, and the configuration of the server is for its user alone', async () => {
  const file = join(stateDir, 'elsewhere');
  await writeFile(file, 'a-token-for-this-test\n');
  await symlink(file, join(userStore(stateDir), TOKEN_FILE));
  expect(usualUrl(stateDir)).toBe(server.url);
  expect((await stat(join(userStore(stateDir), 'nats-server.conf'))).mode & 0o777).toBe(0o600);
});

it('a server is used that is named, else that of the joined team, else the own one', async () => {
  const named = { nats: 'nats://a:1', natsUrl: 'nats://b:2' };
  expect(serverInUse(stateDir, named)).toEqual({ kind: 'named', url: 'nats://a:1', by: '--nats' });
  expect(serverInUse(stateDir, { natsUrl: 'nats://b:2' })).toMatchObject({ by: 'NATS_URL' });
  const store = userStore(stateDir);
  const running = { url: server.url, pid: server.pid };
  expect(serverInUse(stateDir)).toEqual({ kind: 'own', store, running });
  await writeFile(join(stateDir, 'team'), 'nats://c:3\n');
  expect(serverInUse(stateDir)).toEqual({ kind: 'team', url: 'nats://c:3' });
});

it('an installation has one key, on every port, with every token, and while nothing runs', async () => {
  const key = installationKey(serverInUse(stateDir));
  await writeFile(join(userStore(stateDir), TOKEN_FILE), 'a-token-for-this-test\n');
  await server.stop();
  const stopped = serverInUse(stateDir);
  expect(stopped).toEqual({ kind: 'own', store: userStore(stateDir) });
  expect(installationKey(stopped)).toBe(key);
  expect(key).toMatch(/^own:[\da-f]{16}$/);
  const named = serverInUse(stateDir, { natsUrl: 'nats://me:se,cret@a:1,tls://b:2' });
  expect(installationKey(named)).toBe('named:a:1,b:2');
  expect(serverText(named)).toBe('the server that NATS_URL names, a:1,b:2');
});
