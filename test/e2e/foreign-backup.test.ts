import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { DISPATCH_STREAM, PER_SESSION, sessionStream } from '../../src/contracts/names.js';
import { cli } from '../support/cli.js';
import { layoutEnv } from '../support/layouts.js';
import { startTestNats } from '../support/nats-server.js';
import { folderOfFile } from '../support/of-file.js';
import { allDealtWith, newSession, publishWork, startSystem } from '../support/system.js';

/** Backups that someone has changed: a restore makes our own streams, and no other. */

interface Manifest {
  readonly streams: { name: string; config: Record<string, unknown> }[];
}

const session = newSession('kept');
const directory = join(await folderOfFile(), 'backup');
let manifest: string;

beforeAll(async () => {
  await using system = await startSystem({ env: layoutEnv(PER_SESSION) });
  await publishWork(system.client, session, '1');
  await allDealtWith(system.ports);
  expect(await cli(['admin', 'backup', directory], { env: { NATS_URL: system.url } })).toMatchObject({
    code: 0,
  });
  manifest = await readFile(join(directory, 'throughline-backup.json'), 'utf8');
});

/** Restores the backup with a manifest that someone has changed. */
async function restored(url: string, change: (manifest: Manifest) => object) {
  const changed = change(JSON.parse(manifest));
  await writeFile(join(directory, 'throughline-backup.json'), JSON.stringify(changed));
  return cli(['admin', 'restore', directory], { env: { NATS_URL: url } });
}

describe('a restore', () => {
  it('refuses a backup with a stream that is not ours, and one without DISPATCH, before it makes anything', async () => {
    await using system = await startSystem({ only: [] });
    const jsm = await system.ports.connection.jetstreamManager();
    for await (const name of jsm.streams.names()) await jsm.streams.delete(name);
    const foreign = await restored(system.url, ({ streams, ...rest }) => ({
      ...rest,
      streams: streams.map((stream) =>
        stream.name === sessionStream(session) ? { ...stream, name: 'ORDERS' } : stream,
      ),
    }));
    expect(foreign).toMatchObject({ code: 2, stderr: expect.stringContaining('"ORDERS"') });
    const without = await restored(system.url, ({ streams, ...rest }) => ({
      ...rest,
      streams: streams.filter(({ name }) => name !== DISPATCH_STREAM),
    }));
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('no stream DISPATCH') });
    expect((await jsm.streams.names().next()).length).toBe(0);
  });

  it('makes streams and consumers with our own subjects, whatever the manifest says, and keeps the limits of the owner', async () => {
    await using server = await startTestNats();
    const hostile = {
      subjects: ['dispatch.>', 'orders.>'],
      republish: { src: '>', dest: 'stolen.>' },
      sources: [{ name: 'ORDERS' }],
      subject_transform: { src: '>', dest: 'elsewhere.>' },
      sealed: true,
      metadata: { owner: 'someone else' },
      max_age: 86_400_000_000_000,
    };
    const done = await restored(server.url, ({ streams, ...rest }) => ({
      ...rest,
      consumers: [{ name: 'spy', start: 1 }],
      streams: streams.map((stream) => ({ ...stream, config: { ...stream.config, ...hostile } })),
    }));
    expect(done).toMatchObject({ code: 0 });
    await using system = await startSystem({ nats: server, env: layoutEnv(PER_SESSION) });
    const jsm = await system.ports.connection.jetstreamManager();
    for (const [name, subject] of [
      [DISPATCH_STREAM, 'dispatch.>'],
      [sessionStream(session), `session.${session}.>`],
    ] as const) {
      const { config } = await jsm.streams.info(name);
      expect(config).toMatchObject({ subjects: [subject], sealed: false, max_age: hostile.max_age });
      for (const field of ['republish', 'sources', 'subject_transform'])
        expect(config).not.toHaveProperty(field);
      expect(config.metadata).not.toHaveProperty('owner');
    }
    const consumers = await jsm.consumers.list(DISPATCH_STREAM).next();
    expect(consumers.map(({ name }) => name)).not.toContain('spy');
    const { sequence } = await publishWork(system.client, session, '2');
    await system.client.compile({ session, taskId: '3', taskPrompt: 'next', after: sequence });
  });
});
