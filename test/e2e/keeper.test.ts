import { describe, expect, it } from 'vitest';
import { INDEX_BUCKET, token } from '../../src/contracts/names.js';
import type { SessionIndexEntry } from '../../src/contracts/session-file.js';
import { startPrivateNats } from '../support/nats-server.js';
import { publishWork, type System, soon, startSystem } from '../support/system.js';

const FAST = { quietMs: 50, busyMs: 200, restMs: 100 };

async function entryOf({ ports }: System, session: string): Promise<SessionIndexEntry | undefined> {
  for await (const { entries } of ports.index.read(0)) {
    const found = entries.find(({ figures }) => figures.session === session);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe('the keeper', () => {
  it('the entry and the snapshot of a session are there once it is quiet, also for what came while none ran', async () => {
    await using system = await startSystem({ fixed: FAST, only: ['extractor', 'tools', 'learnings'] });
    await publishWork(system.client, 'before', '1');
    await using keeper = await startSystem({ nats: system.nats, fixed: FAST, only: ['keeper'] });
    await publishWork(system.client, 'after', '1');
    for (const session of ['before', 'after']) {
      await soon(async () => {
        expect(await entryOf(system, session)).toMatchObject({ figures: { session, results: 1 } });
        const kept = await system.ports.snapshots.load(token(session, 'session'));
        expect(kept?.sequence).toBe((await entryOf(system, session))?.sequence);
      });
    }
    const health = await keeper.client.tools.healthShow({ brief: true });
    expect(health.services.find(({ service }) => service === 'keeper')).toMatchObject({ connected: true });
  });

  it('the keeper goes on after the server was away, and makes the index again where it was deleted', async () => {
    await using nats = await startPrivateNats();
    await using system = await startSystem({ nats, fixed: FAST });
    await publishWork(system.client, 'demo', '1');
    await soon(async () => expect(await entryOf(system, 'demo')).toBeDefined());
    const jsm = await system.ports.connection.jetstreamManager();
    await jsm.streams.delete(`KV_${INDEX_BUCKET}`);
    await nats.restart();
    await soon(async () => expect(await entryOf(system, 'demo')).toMatchObject({ figures: { results: 1 } }));
    await publishWork(system.client, 'demo', '2');
    await soon(async () => expect(await entryOf(system, 'demo')).toMatchObject({ figures: { results: 2 } }));
  });
});
