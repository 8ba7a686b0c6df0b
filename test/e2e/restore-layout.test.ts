import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PER_SESSION, type SessionLayout, token } from '../../src/contracts/names.js';
import { restore } from '../../src/nats/backup/restore.js';
import { canonicalState } from '../support/canonical.js';
import { cli } from '../support/cli.js';
import { bad, doctor } from '../support/doctor.js';
import { forgotten } from '../support/forgetting.js';
import { layoutEnv } from '../support/layouts.js';
import { plainConnection, startTestNats } from '../support/nats-server.js';
import {
  allDealtWith,
  eventsOf,
  implemented,
  publishWire,
  type System,
  startSystem,
  writeSnapshot,
} from '../support/system.js';

/** An installation changes its layout by a backup, and its restore into an empty installation. */

const SHARDED: SessionLayout = { layout: 'sharded', shards: 4 };
const WAYS: readonly (readonly [from: SessionLayout, to: SessionLayout])[] = [
  [PER_SESSION, SHARDED],
  [SHARDED, PER_SESSION],
];
const SESSIONS = ['one', 'two', 'three', 'shipped', 'again'];

async function publish({ client, ports }: System, session: string, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n += 1)
    await publishWire(
      client,
      'implementer',
      session,
      implemented(`${n}`, { summary: `${session} said ${n}` }),
    );
  await allDealtWith(ports);
}

async function filled(system: System): Promise<void> {
  await publish(system, 'again', 1, 9);
  await forgotten(system, 'again');
  for (const session of SESSIONS) await publish(system, session, 1, 6);
  await system.client.requestTool('task-add', { session: 'one', content: 'Write the parser' });
  await system.client.requestTool('session-open', { session: 'two', title: 'The second' });
  await system.client.tools.sessionArchive({ session: 'shipped' });
  for (const session of ['one', 'again']) await writeSnapshot(system.url, session);
}

const promptOf = async ({ client }: System, session: string) =>
  (await client.compile({ session, taskId: '1', taskPrompt: 'Go on' })).prompt;

describe.each(WAYS)('a backup of $layout', (from, to) => {
  it(`a restore brings all sessions from ${from.layout} to ${to.layout}; one that was cut off keeps services from starting, and goes on with --again`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'throughline-layout-'));
    const directory = join(folder, 'backup');
    try {
      const states = new Map<string, string>();
      const prompts = new Map<string, string>();
      {
        await using source = await startSystem({ env: layoutEnv(from) });
        await filled(source);
        for (const session of SESSIONS) {
          states.set(session, canonicalState(await eventsOf(source, session)));
          prompts.set(session, await promptOf(source, session));
        }
        expect(await cli(['admin', 'backup', directory], { env: { NATS_URL: source.url } })).toMatchObject({
          code: 0,
        });
      }
      await using server = await startTestNats();
      const env = { NATS_URL: server.url };
      const connection = await plainConnection(server.url);
      const cut = () => Promise.reject(new Error('cut off'));
      await expect(
        restore(connection, { directory, again: false, timeoutMs: 5000, layout: to, changeLayout: cut }),
      ).rejects.toThrow('cut off');
      await connection.close();
      expect(await cli(['admin', 'serve'], { env: { ...env, ...layoutEnv(to) } })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('a backup is being restored'),
      });
      const late = ['publish', 'implementer', '-s', 'late', '--no-check', '--timeout', '1s'];
      expect(await cli(late, { env })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('"throughline admin restore DIR --again"'),
      });
      const flags = to.layout === 'sharded' ? ['--shards', `${to.shards}`] : [];
      const args = ['admin', 'restore', directory, '--layout', to.layout, ...flags];
      expect(await cli(args, { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('--again') });
      const again = await cli([...args, '--again', '--json'], { env });
      expect(again).toMatchObject({ code: 0, stderr: '' });

      await using target = await startSystem({ nats: server, env: layoutEnv(to) });
      expect(target.ports.layout).toEqual(to);
      await allDealtWith(target.ports);
      expect((await target.ports.log.sessions()).sort()).toEqual([...SESSIONS].sort());
      for (const session of SESSIONS) {
        expect([session, canonicalState(await eventsOf(target, session))]).toEqual([
          session,
          states.get(session),
        ]);
        expect(await promptOf(target, session)).toBe(prompts.get(session));
      }
      await expect(publish(target, 'one', 7, 8)).resolves.toBeUndefined();
      await publish(target, 'again', 7, 8);
      await target.client.tools.sessionReopen({ session: 'shipped' });
      await publish(target, 'shipped', 7, 7);
      for (const [session, results] of [
        ['one', 8],
        ['again', 8],
        ['shipped', 7],
      ] as const)
        expect((await target.client.tools.sessionShow({ session })).session.dispatches).toMatchObject({
          implementer: results,
        });
      expect((await target.ports.snapshots.load(token('one', 'session')))?.sequence).toBeGreaterThan(6);
      const { found } = await doctor(target.url, layoutEnv(to));
      expect(bad(found).filter(({ level }) => level === 'fail')).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
