import type { NatsConnection } from 'nats';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { codeOf } from '../../../src/contracts/errors.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { connectNats } from '../../../src/nats/connection/connect-nats.js';
import { AckedPublisher } from '../../../src/nats/jetstream/acked-publisher.js';
import { type FaultyServer, startFaultyServer } from '../../support/faults/server.js';
import { soon } from '../../support/soon.js';

let server: FaultyServer;
let connection: NatsConnection;
let publisher: AckedPublisher;
beforeEach(async () => {
  server = await startFaultyServer();
  connection = await connectNats({ url: server.url, name: 'slow', logger: silentLogger });
  await (await connection.jetstreamManager()).streams.add({ name: 'S', subjects: ['s.*'] });
  publisher = new AckedPublisher(connection, 4000);
});
afterEach(async () => {
  publisher.close();
  await connection.close();
  await server.stop();
});

const messages = async () => (await (await connection.jetstreamManager()).streams.info('S')).state.messages;

it('a PubAck that comes late is not taken for a stream that cannot write', async () => {
  await publisher.publish('s.0', 'first');
  await server.freeze();
  const published = Array.from({ length: 500 }, (_, index) => publisher.publish(`s.${index % 7}`, 'late'));
  // Long enough for the stream requests to be sent.
  setTimeout(() => server.thaw(), 2000);
  for (const outcome of await Promise.all(published)) expect(outcome.outcome).toBe('stored');
  expect(await messages()).toBe(501);
});

it('an acknowledgement lost with the connection is not taken for a stream that cannot write', async () => {
  await server.freeze();
  const lost = publisher.publish('s.1', 'lost').then(
    () => 'stored',
    (error: unknown) => codeOf(error),
  );
  await server.kill();
  await server.restart();
  await soon(async () => expect((await publisher.publish('s.2', 'later')).outcome).toBe('stored'));
  expect(await lost).not.toBe('store_full');
});
