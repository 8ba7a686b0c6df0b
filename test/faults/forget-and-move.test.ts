import { afterEach, describe, expect, test } from 'vitest';
import { token } from '../../src/contracts/names.js';
import { cli } from '../support/cli.js';
import { forgotten, storedText } from '../support/forgetting.js';
import { soon } from '../support/soon.js';
import { filesHolding } from '../support/store-files.js';
import { allDealtWith, implemented, type System, startSystem } from '../support/system.js';

describe('forgetting and moving to another layout', () => {
  let system: System;
  afterEach(() => system.stop());

  async function withSessions(): Promise<System> {
    system = await startSystem({ env: { THROUGHLINE_LAYOUT: 'per-session' } });
    for (const [session, word] of [
      ['victim', 'CANARY'],
      ['other', 'BIRDSONG'],
    ] as const)
      for (let at = 0; at < 5; at += 1)
        await system.client.publishImplementer(session, implemented('1', { summary: `${word} ${at}` }));
    await allDealtWith(system.ports);
    return system;
  }

  async function migrate(...args: string[]) {
    const { code, stdout, stderr } = await cli(['layout', 'migrate', ...args, '--nats', system.url]);
    return { code, said: stdout + stderr };
  }

  async function expectGone(): Promise<void> {
    expect(await storedText(system)).not.toContain('CANARY');
    expect(await storedText(system)).toContain('BIRDSONG');
    expect(await filesHolding(system.nats.storeDir, 'CANARY')).toEqual([]);
  }

  test('a session is forgotten right after it has moved for good, by services that have read nothing since', async () => {
    await withSessions();
    expect(await migrate('--shards', '2', '--finish')).toMatchObject({ code: 0 });

    const { found } = await forgotten(system, 'victim');

    expect(found).toMatchObject({ events: 5 });
    await expectGone();
  });

  test('a session whose stream a move has left behind is erased there as well', async () => {
    await withSessions();
    expect(await migrate('--shards', '2')).toMatchObject({ code: 0 });
    const { moving } = system.ports;
    const record = await moving.recorded();
    for (const stream of await moving.own.list()) await moving.own.released(stream);
    expect(await moving.refuseOwn()).toBe(true);
    // As a process does that is killed before it has removed the streams.
    await moving.replace(record, { layout: 'sharded', shards: 2 });

    await forgotten(system, 'victim');

    await expectGone();
    expect(await migrate('--finish')).toMatchObject({ code: 0 });
  });

  test('while sessions are moved nothing is erased, and what was begun before is done once they have moved', async () => {
    await withSessions();
    const lifecycle = await system.ports.openLifecycle();
    expect(await migrate('--shards', '2')).toMatchObject({ code: 0 });
    await expect(
      system.client.tools.sessionForget({ session: 'victim', confirm: 'victim' }),
    ).rejects.toMatchObject({ code: 'conflict' });
    const longAgo = new Date(Date.now() - 60_000).toISOString();
    const victim = token('victim', 'session');
    await lifecycle.forgetting(victim, { at: longAgo, dispatches: 0, sequence: 0 });
    // A service looks for what is left to erase every five seconds.
    await new Promise((resolve) => setTimeout(resolve, 8000));
    expect(lifecycle.forgotten(victim)?.status).toBe('forgetting');

    expect(await migrate('--finish')).toMatchObject({ code: 0 });
    await soon(() => expect(lifecycle.forgotten(victim)?.status).toBe('forgotten'));

    lifecycle.close();
    await expectGone();
  });

  test('no move begins while a session is being forgotten', async () => {
    await withSessions();
    const lifecycle = await system.ports.openLifecycle();
    const now = new Date().toISOString();
    await lifecycle.forgetting(token('victim', 'session'), { at: now, dispatches: 0, sequence: 0 });

    expect(await migrate('--shards', '2')).toMatchObject({
      code: 1,
      said: expect.stringContaining('1 session is being forgotten'),
    });
    lifecycle.close();
  });
});
