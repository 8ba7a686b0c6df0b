import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from 'nats';
import { describe, expect, it } from 'vitest';
import { DISPATCH_STREAM, streamOf, type Token, token } from '../../src/contracts/names.js';
import { type BackupOptions, backUp } from '../../src/nats/backup/back-up.js';
import { LIFECYCLE_STREAM } from '../../src/nats/stores/kv-bucket.js';
import { canonicalState, renumbered } from '../support/canonical.js';
import { cli } from '../support/cli.js';
import { bad, doctor } from '../support/doctor.js';
import { forgotten, furnished, storedText } from '../support/forgetting.js';
import { layoutEnv, testedLayouts } from '../support/layouts.js';
import { plainConnection, startTestNats } from '../support/nats-server.js';
import {
  allDealtWith,
  eventsOf,
  implemented,
  publishWire,
  type System,
  soon,
  startSystem,
} from '../support/system.js';

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
  expect(await cli(['admin', 'restore', directory], { env: { NATS_URL: server.url } })).toMatchObject({
    code: 0,
  });
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
    await publishWire(
      client,
      'implementer',
      session,
      implemented(`${n}`, { summary: `${session} said ${n}` }),
    );
  await allDealtWith(ports);
}

describe.each(LAYOUTS)('while a backup runs, $layout', (layout) => {
  const env = layoutEnv(layout);
  const system = () => startSystem({ env });

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

  it(`sessions that change again and again while the backup runs (${layout.layout}) end it with conflict, and the directory can be used again`, async () => {
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
          importing: { file: `other-${count}`, dispatches: 0, ready: false },
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
