import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from 'nats';
import { describe, expect, it } from 'vitest';
import { DISPATCH_STREAM, type Token, token } from '../../src/contracts/names.js';
import { PER_SESSION, shardOf, streamOf } from '../../src/contracts/session-layout.js';
import { type BackupOptions, backUp } from '../../src/nats/backup/back-up.js';
import { LIFECYCLE_STREAM } from '../../src/nats/stores/lifecycle-bucket.js';
import { canonicalState, renumbered } from '../../src/session/copied-events.js';
import { cli, startCli } from '../support/cli.js';
import { bad, doctor } from '../support/doctor.js';
import { forgotten, furnished, renamed, storedText } from '../support/forgetting.js';
import { layoutEnv, testedLayouts } from '../support/layouts.js';
import { plainConnection, startTestNats } from '../support/nats-server.js';
import { allDealtWith, eventsOf, implemented, type System, soon, startSystem } from '../support/system.js';

/** What happens to sessions while a backup runs, at the moment at which it does most harm. */

const LAYOUTS = testedLayouts(4);

/** What happens before a stream is copied for the first time, or each time. */
type Meanwhile = Readonly<Record<string, () => Promise<void>>>;

/** A connection that asks for the copy of some streams later: when something has happened. */
function delayed(connection: NatsConnection, meanwhile: Meanwhile): NatsConnection {
  const publish: NatsConnection['publish'] = (subject, ...rest) => {
    const before = meanwhile[subject.replace('$JS.API.STREAM.SNAPSHOT.', '')];
    if (before === undefined) return connection.publish(subject, ...rest);
    void before().then(() => connection.publish(subject, ...rest));
  };
  return new Proxy(connection, {
    get(target, key) {
      if (key === 'publish') return publish;
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function once(work: () => Promise<unknown>): () => Promise<void> {
  let done: Promise<unknown> | undefined;
  return async () => {
    done ??= work();
    await done;
  };
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'throughline-backup-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Backs a system up, while something happens. */
async function backedUp(
  { url }: Pick<System, 'url'>,
  directory: string,
  meanwhile: Meanwhile,
  more: Partial<BackupOptions> = {},
) {
  const connection = await plainConnection(url);
  try {
    return await backUp(delayed(connection, meanwhile), {
      ...{ directory, id: 'id', at: new Date().toISOString(), version: '0.0.0', timeoutMs: 5000 },
      ...more,
    });
  } finally {
    await connection.close();
  }
}

/** What a backup comes to: a system that was restored from it, for as long as `work` takes. */
async function restored<T>(
  directory: string,
  env: Record<string, string>,
  work: (system: System) => Promise<T>,
): Promise<T> {
  await using server = await startTestNats();
  expect(await cli(['restore', directory], { env: { NATS_URL: server.url } })).toMatchObject({ code: 0 });
  await using system = await startSystem({ nats: server, env });
  await allDealtWith(system.ports);
  const done = await work(system);
  const { code, found } = await doctor(system.url, env);
  expect({ code, bad: bad(found).filter(({ level }) => level === 'fail') }).toEqual({ code: 0, bad: [] });
  return done;
}

const name = (session: string): Token => token(session, 'session');

async function withResults({ client, ports }: System, session: string, count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1)
    await client.publishImplementer(session, implemented(`${n}`, { summary: `${session} said ${n}` }));
  await allDealtWith(ports);
}

describe.each(LAYOUTS)('while a backup runs, $layout', (layout) => {
  const env = layoutEnv(layout);
  const system = () => startSystem({ env });

  /** Two names whose events are in different streams. */
  const [OLD, NEW] = (() => {
    const old = name('renamed-0');
    const names = Array.from({ length: 50 }, (_, at) => name(`new-${at}`));
    const other = names.find(
      (each) => layout.layout === 'per-session' || shardOf(each, 4) !== shardOf(old, 4),
    );
    return [old, other ?? old] as const;
  })();

  it(`a session that is renamed while the backup runs (${layout.layout}) is in it, under the name that it says`, async () => {
    await inFolder(async (folder) => {
      const directory = join(folder, 'backup');
      await using source = await system();
      await withResults(source, OLD, 5);
      await withResults(source, 'other', 2);
      const before = canonicalState(await eventsOf(source, OLD));
      const again: string[] = [];
      await backedUp(
        source,
        directory,
        { [streamOf(layout, OLD)]: once(() => renamed(source, OLD, NEW)) },
        { onAgain: (why) => again.push(why) },
      );
      expect(again).toEqual([expect.stringContaining(OLD)]);
      expect(await readdir(directory)).toEqual(['streams', 'throughline-backup.json']);

      await restored(directory, env, async (target) => {
        expect(canonicalState(await eventsOf(target, NEW))).toBe(before);
        expect(await eventsOf(target, OLD)).toEqual([]);
        await expect(target.client.tools.sessionShow({ session: OLD })).rejects.toMatchObject({
          code: 'session_renamed',
        });
        expect(await target.client.tools.sessionShow({ session: NEW })).toMatchObject({
          session: { name: NEW },
        });
        expect(await eventsOf(target, 'other')).toHaveLength(2);
      });
    });
  });

  it(`a session whose import ends while the backup runs (${layout.layout}) is in it whole`, async () => {
    await inFolder(async (folder) => {
      const directory = join(folder, 'backup');
      await using source = await system();
      await withResults(source, 'exported', 6);
      const events = renumbered(await eventsOf(source, 'exported'));
      const dispatches = 100;
      const of = { session: 'imported', file: 'f'.repeat(64), dispatches };
      const ask = (more: object) => source.client.requestTool('session-import', { ...of, ...more });
      await soon(async () => expect(await ask({})).toMatchObject({ state: 'importing' }));
      await ask({ events: events.slice(0, 3) });
      await backedUp(source, directory, {
        [LIFECYCLE_STREAM]: once(async () => {
          await ask({ events: events.slice(3) });
          await ask({ done: true });
        }),
      });

      await restored(directory, env, async (target) => {
        expect(canonicalState(await eventsOf(target, 'imported'))).toBe(
          canonicalState(await eventsOf(source, 'imported')),
        );
        expect(await eventsOf(target, 'imported')).toHaveLength(6);
      });
    });
  });

  it(`a session that is archived while the backup runs (${layout.layout}) is archived in it, in its events and in what is recorded`, async () => {
    await inFolder(async (folder) => {
      const directory = join(folder, 'backup');
      await using source = await system();
      for (const session of ['shipped', 'earlier']) await withResults(source, session, 3);
      await source.client.tools.sessionArchive({ session: 'earlier' });
      await backedUp(source, directory, {
        [LIFECYCLE_STREAM]: once(() => source.client.tools.sessionArchive({ session: 'shipped' })),
      });
      await restored(directory, env, async (target) => {
        for (const session of ['shipped', 'earlier'])
          await expect(target.client.tools.taskAdd({ session, content: 'x' })).rejects.toMatchObject({
            code: 'session_archived',
          });
        const { session } = await target.client.tools.sessionShow({ session: 'shipped' });
        expect(session.archived).toBeDefined();
      });
    });
  });

  it.each(['while logs are copied', 'while results are copied'])(
    `nothing of a session that is forgotten %s (${layout.layout}) is in the backup, or comes back`,
    async (when) => {
      await inFolder(async (folder) => {
        const directory = join(folder, 'backup');
        await using source = await system();
        await furnished(source, 'gone', 'CANARY', 'parser');
        await withResults(source, 'kept', 3);
        const again: string[] = [];
        const stream = when.includes('results') ? DISPATCH_STREAM : streamOf(layout, name('kept'));
        await backedUp(
          source,
          directory,
          { [stream]: once(() => forgotten(source, 'gone', { withLearnings: true })) },
          { onAgain: (why) => again.push(why) },
        );
        expect(again.length).toBeGreaterThan(0);
        await restored(directory, env, async (target) => {
          expect(await storedText(target)).not.toContain('CANARY');
          expect((await target.client.tools.sessionShow({ session: 'gone' })).sequence).toBe(0);
          expect(await eventsOf(target, 'kept')).toHaveLength(3);
        });
      });
    },
  );

  it(`a session that is being forgotten when the backup ends (${layout.layout}) is forgotten after the restore`, async () => {
    await inFolder(async (folder) => {
      const directory = join(folder, 'backup');
      {
        await using source = await system();
        await furnished(source, 'going', 'CANARY', 'parser');
        await backedUp(source, directory, {
          [DISPATCH_STREAM]: once(async () => {
            void source.client.tools.sessionForget({ session: 'going', confirm: 'going' }).catch(() => {});
            const lifecycle = await source.ports.openLifecycle();
            await soon(() => expect(lifecycle.forgotten(name('going'))?.status).toBe('forgetting'));
            lifecycle.close();
          }),
        });
      }
      await restored(directory, env, async (target) => {
        await soon(async () => expect(await storedText(target)).not.toContain('CANARY'));
        await soon(async () =>
          expect((await target.client.tools.sessionShow({ session: 'going' })).sequence).toBe(0),
        );
      });
    });
  });

  it(`sessions that are renamed again and again while the backup runs (${layout.layout}) end it with conflict, and the directory can be used again`, async () => {
    await inFolder(async (folder) => {
      const directory = join(folder, 'backup');
      await using source = await system();
      await withResults(source, 'restless', 2);
      const lifecycle = await source.ports.openLifecycle();
      let count = 0;
      const changing = async () => {
        count += 1;
        await lifecycle.change(name('restless'), () => ({
          at: new Date().toISOString(),
          renamed_to: name(`other-${count}`),
        }));
      };
      await changing();
      await expect(backedUp(source, directory, { [LIFECYCLE_STREAM]: changing })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('restless'),
      });
      expect(await readdir(directory)).toEqual([]);
      await lifecycle.change(name('restless'), () => 'remove');
      lifecycle.close();
      await backedUp(source, directory, {});
      await restored(directory, env, async (target) => {
        expect(await eventsOf(target, 'restless')).toHaveLength(2);
      });
    });
  });
});

describe('sessions that are moved to another layout', () => {
  it('a backup during which sessions begin to be moved ends with conflict, and leaves nothing that looks like a backup', async () => {
    await inFolder(async (folder) => {
      const directory = join(folder, 'backup');
      await using source = await startSystem({ env: layoutEnv(PER_SESSION) });
      await withResults(source, 'moving', 3);
      const env = { NATS_URL: source.url };
      const backup = backedUp(source, directory, {
        [DISPATCH_STREAM]: once(async () => {
          await using _ = await startCli(['layout', 'migrate', '--shards', '2'], env);
          await soon(async () => expect((await source.ports.moving.recorded()).layout.layout).toBe('moving'));
        }),
      });
      await expect(backup).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('moved to another layout while'),
      });
      expect(await readdir(directory)).toEqual([]);
    });
  });

  it('a backup during which sessions were moved and moved back ends with conflict as well', async () => {
    await inFolder(async (folder) => {
      const directory = join(folder, 'backup');
      await using source = await startSystem({ env: layoutEnv(PER_SESSION) });
      await withResults(source, 'moving', 3);
      const { moving } = source.ports;
      const backup = backedUp(source, directory, {
        [DISPATCH_STREAM]: once(async () => {
          const before = await moving.recorded();
          const layout = { layout: 'moving', shards: 2, towards: 'sharded' } as const;
          await moving.replace(await moving.replace(before, layout), before.layout);
        }),
      });
      await expect(backup).rejects.toMatchObject({ code: 'conflict' });
      expect(await readdir(directory)).toEqual([]);
    });
  });

  it('a stream that was left fenced is named by the doctor with the command that mends it, and is in use after a restore', async () => {
    await inFolder(async (folder) => {
      const directory = join(folder, 'backup');
      const env = layoutEnv(PER_SESSION);
      await using source = await startSystem({ env });
      await withResults(source, 'fenced', 3);
      const { own } = source.ports.moving;
      for (const stream of await own.list()) await own.fence(stream);
      expect(bad((await doctor(source.url, env)).found)).toMatchObject([
        {
          check: 'stream SESSION_fenced',
          level: 'fail',
          fix: 'put it back in use: throughline layout migrate --back',
        },
      ]);
      await backedUp(source, directory, {});
      await restored(directory, env, async (target) => {
        await withResults(target, 'fenced', 1);
        expect(await eventsOf(target, 'fenced')).toHaveLength(4);
        expect(bad((await doctor(target.url, env)).found)).toEqual([]);
      });
      expect(await cli(['layout', 'migrate', '--back'], { env: { NATS_URL: source.url } })).toMatchObject({
        code: 0,
      });
      await withResults(source, 'fenced', 1);
      expect(await eventsOf(source, 'fenced')).toHaveLength(4);
    });
  });
});
