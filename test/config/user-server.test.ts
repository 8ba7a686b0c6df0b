import { mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  installationKey,
  joinTeam,
  leaveTeam,
  projectTeamDir,
  serverInUse,
  serverText,
  userStore,
} from '../../src/config/user-server.js';
import { type RunningServer, startNatsServer } from '../../src/nats/server/server-process.js';
import { TOKEN_FILE, tokenOf } from '../../src/nats/server/server-store.js';
import { nativeSource } from '../support/nats-native.js';
import { folderOfTest } from '../support/of-file.js';

let stateDir: string;
let server: RunningServer;
beforeEach(async () => {
  stateDir = await folderOfTest();
  server = await startNatsServer({ source: await nativeSource(), storeDir: userStore(stateDir) });
});
afterEach(() => server.stop());

it('a token behind a link is not read, and the configuration of the server is for its user alone', async () => {
  const store = userStore(stateDir);
  const file = join(stateDir, 'elsewhere');
  await writeFile(file, 'a-token-for-this-test\n');
  expect(tokenOf(store)).toBeUndefined();
  await symlink(file, join(store, TOKEN_FILE));
  expect(tokenOf(store)).toBeUndefined();
  await rm(join(store, TOKEN_FILE));
  await writeFile(join(store, TOKEN_FILE), 'a-token-for-this-test\n');
  expect(tokenOf(store)).toBe('a-token-for-this-test');
  expect((await stat(join(store, 'nats-server.conf'))).mode & 0o777).toBe(0o600);
});

it('a server is used that is named, else that of the joined team, else the own one', async () => {
  const named = { nats: 'nats://a:1', natsUrl: 'nats://b:2' };
  expect(serverInUse(stateDir, named)).toEqual({ kind: 'named', url: 'nats://a:1', by: '--nats' });
  expect(serverInUse(stateDir, { natsUrl: 'nats://b:2' })).toMatchObject({ by: 'NATS_URL' });
  const store = userStore(stateDir);
  const running = { url: server.url, pid: server.pid };
  expect(serverInUse(stateDir)).toEqual({ kind: 'own', store, running });
  joinTeam(stateDir, { url: 'nats://c:3' });
  expect(serverInUse(stateDir)).toEqual({ kind: 'team', url: 'nats://c:3', access: {} });
  expect(serverInUse(stateDir, named)).toMatchObject({ by: '--nats' });
  joinTeam(stateDir, { url: 'tls://c:3', as: 'ann', by: 'bob@host', seed: 'SU', ca: 'PEM' });
  const access = { nkey: join(stateDir, 'team.nk'), ca: join(stateDir, 'team-ca.pem') };
  expect(serverInUse(stateDir)).toMatchObject({ url: 'tls://c:3', access });
  expect(serverText(serverInUse(stateDir))).toBe(
    'the server of bob@host at c:3, named by "throughline team join", as ann',
  );
  await writeFile(join(stateDir, 'team'), 'nats://c:3\n');
  expect(() => serverInUse(stateDir)).toThrow(/team is damaged: "throughline team leave" removes it/);
  expect(leaveTeam(stateDir)).toBeUndefined();
  expect(serverInUse(stateDir)).toMatchObject({ kind: 'own' });
});

it('a project that has joined a server uses it on all its work trees, until it leaves', async () => {
  const [project, tree] = [join(stateDir, 'shop'), join(stateDir, 'shop-tree')];
  const linked = join(project, '.git', 'worktrees', 'tree');
  for (const folder of [linked, tree, join(project, 'src')]) await mkdir(folder, { recursive: true });
  await writeFile(join(tree, '.git'), `gitdir: ${linked}\n`);
  await writeFile(join(linked, 'gitdir'), `${join(tree, '.git')}\n`);
  joinTeam(stateDir, { url: 'nats://all:1' });
  joinTeam(projectTeamDir(stateDir, tree), { url: 'nats://shop:2', as: 'ann' });
  for (const directory of [tree, project, join(project, 'src')])
    expect(serverText(serverInUse(stateDir, { directory }))).toBe(
      'shop:2, named by "throughline team join --project", as ann',
    );
  expect(serverInUse(stateDir, { directory: stateDir })).toMatchObject({ url: 'nats://all:1' });
  expect(leaveTeam(stateDir, project)).toBe('nats://shop:2');
  expect(serverInUse(stateDir, { directory: tree })).toMatchObject({ url: 'nats://all:1' });
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
  expect(serverText(named)).toBe('a:1,b:2, named by NATS_URL');
  // By whatever way it is named, and however that is written.
  const keys = ['nats://Host', 'tls://host:4222/', 'token@host'].map((url) =>
    installationKey(serverInUse(stateDir, { nats: url })),
  );
  joinTeam(stateDir, { url: 'nats://host:4222' });
  expect(new Set([...keys, installationKey(serverInUse(stateDir))])).toEqual(new Set(['named:host:4222']));
});
