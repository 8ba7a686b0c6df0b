import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Forgotten } from '../../../src/contracts/lifecycle-record.js';
import { AckedPublisher } from '../../../src/nats/jetstream/acked-publisher.js';
import { NatsSessionLog } from '../../../src/nats/stores/nats-session-log.js';
import { newSession, type OpenedNats, startNatsPorts } from '../../engine/ports/opened.js';
import { implementer, recorded } from '../../support/builders.js';
import { tampered } from '../../support/tampered-connection.js';

let nats: OpenedNats;
beforeAll(async () => {
  nats = await startNatsPorts();
});
afterAll(() => nats.close());

it('what a batch did not store is not stored behind the end of a session that is forgotten meanwhile', async () => {
  let record: Forgotten | undefined;
  const publisher = new AckedPublisher(
    tampered(nats.connection, (nth, send) => {
      // The first event creates the stream. The event of the batch is dropped, so that nothing of it is stored.
      if (nth !== 2) send();
      else record = { v: 1, status: 'forgetting', at: new Date().toISOString(), dispatches: 9, sequence: 1 };
    }),
    5000,
  );
  const jsm = await nats.connection.jetstreamManager();
  const log = new NatsSessionLog(
    { connection: nats.connection, jsm, publisher, timeoutMs: 5000 },
    { layout: 'sharded', shards: 1 },
    {
      ...{ replicas: 1, batches: true },
      forgotten: { of: () => record, refreshed: () => undefined },
    },
  );
  const session = newSession();
  const event = (number: number) => recorded(number, implementer());
  await log.append(session, event(1), { together: true });
  const appended = await Promise.allSettled(
    [2, 3, 4].map((number) => log.append(session, event(number), { together: true })),
  );
  for (const outcome of appended) expect(outcome).toMatchObject({ reason: { code: 'session_forgotten' } });
  expect((await log.read(session, { after: 0 })).events).toHaveLength(1);
  publisher.close();
});
