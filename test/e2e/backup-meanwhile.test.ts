import { join } from 'node:path';
import type { NatsConnection } from 'nats';
import { describe, expect, it } from 'vitest';
import { PER_SESSION, streamOf, type Token, token } from '../../src/contracts/names.js';
import { backUp } from '../../src/nats/backup/back-up.js';
import { cli } from '../support/cli.js';
import { bad, doctor } from '../support/doctor.js';
import { forgotten, furnished, storedText } from '../support/forgetting.js';
import { plainConnection, startTestNats } from '../support/nats-server.js';
import { folderOfTest } from '../support/of-file.js';
import { allDealtWith, eventsOf, publishWork, type System, startSystem } from '../support/system.js';

/** What happens to sessions while a backup runs, at the moment at which it does most harm. */

/** What happens before a stream is copied for the first time, or each time. */
type Meanwhile = Readonly<Record<string, () => Promise<void>>>;

/** A connection that asks for the copy of some streams later: when something has happened. */
function delayed(connection: NatsConnection, meanwhile: Meanwhile): NatsConnection {
  const request: NatsConnection['request'] = async (subject, ...rest) => {
    await meanwhile[subject.replace('$JS.API.STREAM.SNAPSHOT.', '')]?.();
    return connection.request(subject, ...rest);
  };
  return new Proxy(connection, {
    get(target, key) {
      if (key === 'request') return request;
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

/** Backs a system up, while something happens. */
async function backedUp({ url }: Pick<System, 'url'>, directory: string, meanwhile: Meanwhile) {
  const connection = await plainConnection(url);
  try {
    return await backUp(delayed(connection, meanwhile), {
      directory,
      at: new Date().toISOString(),
      version: '0.0.0',
      timeoutMs: 5000,
    });
  } finally {
    await connection.close();
  }
}

/** What a backup comes to: a system that was restored from it, for as long as `work` takes. */
async function restored<T>(directory: string, work: (system: System) => Promise<T>): Promise<T> {
  await using server = await startTestNats();
  expect(await cli(['admin', 'restore', directory], { env: { NATS_URL: server.url } })).toMatchObject({
    code: 0,
  });
  await using system = await startSystem({ nats: server });
  await allDealtWith(system.ports);
  const done = await work(system);
  const { code, found } = await doctor(system.url);
  expect({ code, bad: bad(found).filter(({ level }) => level === 'fail') }).toEqual({ code: 0, bad: [] });
  return done;
}

const name = (session: string): Token => token(session, 'session');

async function withResults({ client, ports }: System, session: string, count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1)
    await publishWork(client, session, `${n}`, { summary: `${session} said ${n}` });
  await allDealtWith(ports);
}

describe('while a backup runs', () => {
  it('a session that is archived is archived in it, in its events and in what is recorded', async () => {
    const folder = await folderOfTest();
    const directory = join(folder, 'backup');
    await using source = await startSystem();
    for (const session of ['shipped', 'earlier']) await withResults(source, session, 3);
    await source.client.tools.sessionArchive({ session: 'earlier' });
    await backedUp(source, directory, {
      [streamOf(PER_SESSION, name('shipped'))]: once(() =>
        source.client.tools.sessionArchive({ session: 'shipped' }),
      ),
    });
    await restored(directory, async (target) => {
      for (const session of ['shipped', 'earlier'])
        await expect(target.client.tools.taskAdd({ session, content: 'x' })).rejects.toMatchObject({
          code: 'session_archived',
        });
      const { session } = await target.client.runs.status({ session: 'shipped' });
      expect(session.archived).toBeDefined();
    });
  });

  it('a session that is forgotten may come back, and leaves no trace once it is forgotten again', async () => {
    const folder = await folderOfTest();
    const directory = join(folder, 'backup');
    await using source = await startSystem();
    await furnished(source, 'gone', 'CANARY', 'parser');
    await withResults(source, 'kept', 3);
    await backedUp(source, directory, {
      [streamOf(PER_SESSION, name('gone'))]: once(() => forgotten(source, 'gone', { withLearnings: true })),
    });
    await restored(directory, async (target) => {
      await forgotten(target, 'gone', { withLearnings: true });
      expect(await storedText(target)).not.toContain('CANARY');
      expect(await eventsOf(target, 'kept')).toHaveLength(3);
    });
  });
});
