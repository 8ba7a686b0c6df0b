import { describe, expect, it } from 'vitest';
import { INDEX_BUCKET } from '../../src/contracts/names.js';
import type { SessionIndexEntry } from '../../src/contracts/replies/session-reply.js';
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
