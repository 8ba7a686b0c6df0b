import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { connect } from 'nats';
import { describe, expect, it } from 'vitest';
import { identityOf, isRunning } from '../../../src/nats/server/process-identity.js';
import { startNatsServer } from '../../../src/nats/server/server-process.js';
import {
  listenerOf,
  lockStore,
  serverNameOf,
  serverOnStore,
  stopOrphan,
  storeUse,
} from '../../../src/nats/server/server-store.js';
import { nativeSource } from '../../support/nats-native.js';
import { afterTest, folderOfTest } from '../../support/of-file.js';
import { soon } from '../../support/soon.js';
import { mountTmpfs, TMPFS_MISSING } from '../../support/tmpfs.js';

async function started(storeDir: string) {
  const server = await startNatsServer({ source: await nativeSource(), storeDir });
  afterTest(() => server.stop());
  return server;
}

const MODULE = new URL('../../../dist/nats/server/server-store.js', import.meta.url).href;
const CONTENDER = `
  const { lockStore } = await import(${JSON.stringify(MODULE)});
  let lock;
  process.on('message', async ({ storeDir, at }) => {
    if (storeDir === undefined) { lock.release(); process.send('released'); return; }
    while (Date.now() < at);
    try { lock = await lockStore(storeDir); process.send('locked'); }
    catch (error) { process.send(error.code + ' ' + error.details?.use?.starter?.pid); }
  });
  process.send('ready');
`;

/** A process of its own that takes the lock of a store when it is told to. */
async function contender() {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', CONTENDER], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const answer = async () => String((await once(child, 'message'))[0]);
  const exited = once(child, 'exit');
  await answer();
  const ask = (message: object) => {
    const answered = answer();
    child.send(message);
    return answered;
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  afterTest(kill);
  return {
    pid: child.pid ?? -1,
    /** Tries at a time, in milliseconds since 1970: `locked`, or the error's code and the process that it names. */
    lock: (storeDir: string, at: number) => ask({ storeDir, at }),
    release: () => ask({}),
    kill,
  };
}

describe('a store', () => {
  it('a store that a server uses is refused to a second one, with both processes and the fix in the message', async () => {
    const storeDir = await folderOfTest();
    const first = await started(storeDir);
    await expect(started(storeDir)).rejects.toMatchObject({
      code: 'store_in_use',
      message: expect.stringMatching(
        new RegExp(`in use by .* process ${first.pid}, which process ${process.pid} started: stop .*--store`),
      ),
    });
  });

  it('a store is one store by whichever path it is reached', async () => {
    const storeDir = await folderOfTest();
    const link = `${storeDir}-link`;
    await symlink(storeDir, link);
    afterTest(() => rm(link));
    await started(storeDir);
    await expect(started(link)).rejects.toMatchObject({ code: 'store_in_use' });
  });

  it('a store is refused also while the server that uses it stands still', async () => {
    const storeDir = await folderOfTest();
    const first = await started(storeDir);
    process.kill(first.pid, 'SIGSTOP');
    afterTest(async () => process.kill(first.pid, 'SIGCONT'));
    await expect(started(storeDir)).rejects.toMatchObject({
      code: 'store_in_use',
      message: expect.stringContaining(`process ${first.pid}`),
    });
  });

  it('a store is free again when its server was stopped, when it was killed, and when none came up', async () => {
    const storeDir = await folderOfTest();
    await (await started(storeDir)).stop();
    await (await started(storeDir)).kill();
    const source = await nativeSource();
    await expect(startNatsServer({ source, storeDir, extraConfig: 'nonsense: 1' })).rejects.toThrow();
    await started(storeDir);
    expect((await readdir(storeDir)).filter((name) => name.startsWith('throughline-'))).toEqual([
      'throughline-server.pid',
      'throughline-store-id',
    ]);
  });

  it('a store is free when the process that its lock names has ended and another has its number', async () => {
    const storeDir = await folderOfTest();
    const another = { pid: process.pid, started: 'long ago' };
    await writeFile(
      join(storeDir, 'throughline-server.pid'),
      JSON.stringify({ starter: another, server: another, url: 'nats://127.0.0.1:1' }),
    );
    await lockStore(storeDir);
    await expect(lockStore(storeDir)).rejects.toMatchObject({ code: 'store_in_use' });
  });

  it.runIf(process.platform === 'linux')(
    'a store is free when its lock names a process without its start, as one in a repository may',
    async () => {
      const storeDir = await folderOfTest();
      const starter = { pid: process.pid };
      await writeFile(join(storeDir, 'throughline-server.pid'), JSON.stringify({ starter }));
      expect(storeUse(storeDir)).toBeUndefined();
    },
  );

  it('a store is free when its lock cannot be read', async () => {
    const storeDir = await folderOfTest();
    await writeFile(join(storeDir, 'throughline-server.pid'), '{');
    await lockStore(storeDir);
  });

  it('a store goes to exactly one of several processes that want it at the same moment, round after round', async () => {
    const storeDir = await folderOfTest();
    const all = await Promise.all([contender(), contender(), contender()]);
    for (let round = 0; round < 60; round += 1) {
      const at = Date.now() + 8;
      const outcomes = await Promise.all(all.map((each) => each.lock(storeDir, at)));
      const won = outcomes.filter((outcome) => outcome === 'locked');
      expect(won, `round ${round}: ${outcomes.join(', ')}`).toHaveLength(1);
      const winner = all[outcomes.indexOf('locked')];
      expect(outcomes.filter((outcome) => outcome === `store_in_use ${winner?.pid}`)).toHaveLength(2);
      // The next round finds the lock of a dead process.
      if (round % 10 === 9) {
        await winner?.kill();
        all[outcomes.indexOf('locked')] = await contender();
      } else await winner?.release();
    }
  });
});

describe('a process is not taken for one that runs', () => {
  it('a process is not taken for running when another has its number', () => {
    const identity = identityOf(process.pid);
    expect(isRunning(identity)).toBe(true);
    expect(isRunning({ ...identity, started: 'another time' })).toBe(false);
  });

  it.skipIf(process.platform === 'win32')(
    'a process is not taken for running when it ended and its parent has not collected it yet',
    async () => {
      const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 600'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      afterTest(async () => parent.kill('SIGKILL'));
      const [pid] = await once(parent.stdout.setEncoding('utf8'), 'data');
      await soon(() => expect(isRunning({ pid: Number(pid) })).toBe(false));
    },
  );
});

describe('a store that cannot be used is said in one line, at once:', () => {
  it.each([
    ['where the system takes no folder', () => '/proc/throughline'],
    [
      'with a file in its place',
      async () => {
        const path = join(await folderOfTest(), 'file');
        await writeFile(path, '');
        return path;
      },
    ],
    [
      'with a link in its place that leads nowhere',
      async () => {
        const path = join(await folderOfTest(), 'link');
        await symlink('/nowhere/at/all', path);
        return path;
      },
    ],
    ['with a name that is too long', async () => join(await folderOfTest(), 'x'.repeat(300))],
    [
      'with a path that is too long',
      async () => join(await folderOfTest(), ...Array(50).fill('x'.repeat(200))),
    ],
  ])('a store that cannot be used is reported in one line, at once: %s', async (_what, pathOf) => {
    const storeDir = await pathOf();
    await expect(started(storeDir)).rejects.toMatchObject({
      code: 'store_unusable',
      message: expect.stringMatching(
        /^the store .* cannot be used \(E[A-Z]+: [^\n]*\): choose another .* --store$/,
      ),
    });
  });

  it.skipIf(TMPFS_MISSING !== undefined)(
    'a store on a read-only file system, or on a full disk, is reported with the reason',
    async () => {
      await using fixed = await mountTmpfs({ readOnly: true });
      for (const path of [fixed.path, join(fixed.path, 'store')])
        await expect(started(path)).rejects.toMatchObject({
          code: 'store_unusable',
          message: expect.stringContaining('EROFS'),
        });
      await using full = await mountTmpfs({ megabytes: 1 });
      await full.fill();
      await expect(started(full.path)).rejects.toMatchObject({
        code: 'store_full',
        message: expect.stringMatching(/ENOSPC.*make room/),
      });
    },
  );

  it('a new store makes the missing folders above it', async () => {
    const storeDir = join(await folderOfTest(), 'one', 'two');
    await mkdir(join(storeDir, '..'), { recursive: true });
    await (await started(storeDir)).stop();
  });
});

describe('a server whose starter was killed', () => {
  it('a server whose starter was killed is stopped by the next start, also when it stands still', async () => {
    const storeDir = await folderOfTest();
    const first = await started(storeDir);
    const file = join(storeDir, 'throughline-server.pid');
    const starter = { pid: process.pid, started: 'killed since' };
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), starter }));
    expect(storeUse(storeDir)).toMatchObject({ by: 'orphan', url: first.url });
    process.kill(first.pid, 'SIGSTOP');
    await started(storeDir);
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it.each([
    ['started at another time', { pid: process.pid, started: 'another time' }],
    ['has a number only', { pid: process.pid }],
  ])('a process that %s is not touched', async (what, server) => {
    const stopping = stopOrphan('/store', { starter: server, server });
    if (what === 'started at another time') return expect(stopping).resolves.toBeUndefined();
    await expect(stopping).rejects.toMatchObject({
      code: 'store_in_use',
      message: expect.stringContaining('cannot be identified; stop it by hand'),
    });
  });
});

describe('the server on a store', () => {
  it('it is proven by its process and its listener, and greets with the id of the store', async () => {
    const storeDir = await folderOfTest();
    const { url, pid, port } = await started(storeDir);
    expect(serverOnStore(storeDir)).toEqual({ url, pid });
    const connection = await connect({ servers: url });
    expect(connection.info?.server_name).toBe(serverNameOf(storeDir));
    await connection.close();
    if (process.platform === 'linux') expect(listenerOf(port)).toBe(process.getuid?.());
  });

  it.skipIf(process.platform !== 'linux')(
    'the listener of a port is found by any address that it has',
    async () => {
      for (const host of ['127.0.0.1', '0.0.0.0', '::', '::ffff:127.0.0.1']) {
        const listening = createServer().listen(0, host);
        await once(listening, 'listening');
        const address = listening.address();
        const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
        expect(listenerOf(port), host).toBe(process.getuid?.());
        listening.close();
        await once(listening, 'close');
        expect(listenerOf(port), host).toBeUndefined();
      }
    },
  );

  it('a process that a pid file names counts only with its start time, and a port only if its listener is ours', async () => {
    const storeDir = await folderOfTest();
    const { url, pid, port } = await started(storeDir);
    const server = identityOf(pid);
    const at = async (note: object) => {
      const other = await folderOfTest();
      const starter = identityOf(process.pid);
      await writeFile(join(other, 'throughline-server.pid'), JSON.stringify({ starter, ...note }));
      return serverOnStore(other);
    };
    expect(await at({ server, url })).toEqual({ url, pid });
    expect(await at({ server: { ...server, started: 'another time' }, url })).toBeUndefined();
    expect(await at({ server })).toBeUndefined();
    expect(await at({ server, url: `nats://user@127.0.0.1:${port}` })).toBeUndefined();
  });
});
