import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RecordedLayout } from '../../../src/nats/jetstream/layout-record.js';
import { ClaimLost } from '../../../src/nats/jetstream/moving-streams.js';
import { newSession, twoOnNats } from '../../ports/opened.js';
import { implementer, recorded, rejected } from '../../support/builders.js';
import { filesHolding } from '../../support/store-files.js';

const LONGER_THAN_TRUSTED_MS = 700;

const LAYOUT_MOVING = { layout: 'moving', shards: 2, towards: 'sharded' } as const;

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('marks of a move that was taken back', () => {
  const opened = twoOnNats();

  it('streams that were marked after a move was taken back are put back in use, and those of a move are left as they are', async () => {
    const { moving, log } = opened.nats;
    const sessions = [newSession(), newSession(), newSession()];
    for (const session of sessions) await log.append(session, rejected(1));
    const configs = () => moving.own.list().then((streams) => streams.map(({ config }) => config));
    const before = await configs();
    const [, fenced, moved] = await moving.own.list();
    if (fenced === undefined || moved === undefined) throw new Error('no streams');
    await moving.own.fence(fenced);
    await moving.own.released(await moving.own.moved(await moving.own.fence(moved)));
    const marked = await configs();

    const record = await moving.replace(await moving.recorded(), LAYOUT_MOVING);
    await expect(moving.takeBackMarks()).rejects.toBeInstanceOf(ClaimLost);
    expect(await configs()).toEqual(marked);
    await moving.replace(record, { layout: 'per-session' });
    await moving.takeBackMarks();

    const bare = (found: Awaited<ReturnType<typeof configs>>) =>
      found.map(({ metadata, ...config }) => config);
    expect(bare(await configs())).toEqual(bare(before));
    expect((await moving.own.list()).map(({ place }) => place)).toEqual(['own', 'own', 'own']);
    for (const session of sessions)
      expect(await log.append(session, rejected(2))).toMatchObject({ outcome: 'appended' });
  });
});

describe('a copy that is in the way', () => {
  const opened = twoOnNats({ wanted: { layout: 'sharded', shards: 1 } });

  it('a copy that is dropped from its shard is in no file of it, and its neighbours are as they were', async () => {
    const { moving, log, server } = opened.nats;
    const [session, neighbour] = [newSession(), newSession()];
    for (let at = 1; at <= 10; at += 1) {
      await log.append(session, recorded(at, implementer({ summary: `CANARY ${at}` })));
      await log.append(neighbour, recorded(100 + at, implementer({ summary: 'BIRDSONG'.repeat(100) })));
    }
    const before = await log.read(neighbour, { after: 0 });
    expect(await filesHolding(server.storeDir, 'CANARY')).toHaveLength(1);

    await moving.clearShard(session, 1);

    expect((await log.read(session, { after: 0 })).events).toEqual([]);
    expect(await log.read(neighbour, { after: 0 })).toEqual(before);
    expect(await filesHolding(server.storeDir, 'CANARY')).toEqual([]);
  });
});

describe('a process that stood still', () => {
  const opened = twoOnNats();

  it('a process that stood still while another one changed the layout may do nothing, however many ask at once', async () => {
    const { moving } = opened.nats;
    await moving.claim();
    await moving.recorded();
    const another = opened.other.moving;
    const record: RecordedLayout = await another.recorded();
    await another.replace(record, LAYOUT_MOVING);

    standStill(LONGER_THAN_TRUSTED_MS);
    let known = false;
    const first = Promise.resolve(moving.claimed()).catch((error: unknown) => {
      known = true;
      return error;
    });
    const later: unknown[] = [];
    while (!known) {
      later.push(Promise.resolve(moving.claimed()).catch((error: unknown) => error));
      await wait(1);
    }

    expect(await first).toBeInstanceOf(ClaimLost);
    expect(await Promise.all(later)).toEqual(later.map(() => expect.any(ClaimLost)));
    // Nor may it begin again with what is recorded now.
    await expect(moving.recorded()).rejects.toBeInstanceOf(ClaimLost);
  });
});

describe('a process that was cut off', () => {
  const opened = twoOnNats();

  it('a process that was cut off while another one changed the layout may do nothing more, also not after a fault', async () => {
    const { moving, connection } = opened.nats;
    await moving.claim();
    await moving.recorded();
    await connection.reconnect();
    const another = opened.other.moving;
    await another.replace(await another.recorded(), LAYOUT_MOVING);

    await expect(moving.claimed()).rejects.toBeInstanceOf(ClaimLost);
    await expect(moving.claim()).rejects.toBeInstanceOf(ClaimLost);
  });
});
