import { headers } from 'nats';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER } from '../../../src/contracts/names.js';
import type { DispatchDelivery } from '../../../src/engine/ports/dispatch-source.js';
import { onReconnect } from '../../../src/nats/connection/connect-nats.js';
import { bytes, type OpenedNats, openPorts, startNatsPorts } from '../../engine/ports/opened.js';
import { startFaultyServer } from '../../support/faults/server.js';
import { soon } from '../../support/soon.js';

const SUBJECT = 'dispatch.demo.implementer';
const MIB = 1024 * 1024;

let nats: OpenedNats;
beforeEach(async () => {
  nats = await startNatsPorts();
});
afterEach(() => nats.close());

it('a consumption takes bodies of the largest size that the server takes, each once', async () => {
  const { max_payload: largest = 0 } = nats.connection.info ?? {};
  const delivered: number[] = [];
  const consumption = await nats.source.consume((delivery) => {
    expect(delivery.body).toHaveLength(largest);
    delivered.push(delivery.sequence);
    delivery.ack();
  });
  for (let index = 0; index < 8; index += 1) await nats.source.publish(SUBJECT, new Uint8Array(largest));
  await soon(() => expect(delivered).toEqual([1, 2, 3, 4, 5, 6, 7, 8]));
  await consumption.close();
});

it('a consumption takes a body that is larger than what the server takes now', async () => {
  await using server = await startFaultyServer();
  const ports = await openPorts(server.url);
  await ports.source.publish(SUBJECT, new Uint8Array(MIB / 2));
  await server.restart({ extraConfig: 'max_payload: 128KB' });
  await soon(() => expect(ports.connection.info?.max_payload).toBe(MIB / 8));
  const delivered: number[] = [];
  const consumption = await ports.source.consume((delivery) => {
    delivered.push(delivery.body.length);
    delivery.ack();
  });
  await soon(() => expect(delivered).toEqual([MIB / 2]));
  // By message ids: a dispatch whose PubAck was lost is published again.
  await soon(() => ports.source.publish(SUBJECT, bytes('x'), 'small'));
  await server.restart({ extraConfig: 'max_payload: 2MB' });
  await soon(() => ports.source.publish(SUBJECT, new Uint8Array(1.5 * MIB), 'large'));
  await soon(() => expect(delivered).toEqual([MIB / 2, 1, 1.5 * MIB]));
  await consumption.close();
  await ports.close();
});

it('a consumption holds about 32 MiB of unfinished bodies, and goes on when they are finished', async () => {
  const inHand: DispatchDelivery[] = [];
  const consumption = await nats.source.consume((delivery) => inHand.push(delivery));
  const body = new Uint8Array(0.9 * MIB);
  for (let index = 0; index < 50; index += 1) await nats.source.publish(SUBJECT, body);
  const jsm = await nats.connection.jetstreamManager();
  const waiting = async () => (await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER)).num_pending;
  await soon(() => expect(inHand.length * body.length).toBeGreaterThan(32 * MIB));
  expect(await waiting()).toBeGreaterThan(10);
  expect(inHand.length * body.length).toBeLessThan(36 * MIB);
  for (let dealtWith = 0; dealtWith < 50; dealtWith += 1) {
    await soon(() => expect(inHand.length).toBeGreaterThan(dealtWith));
    inHand[dealtWith]?.ack();
  }
  expect(await waiting()).toBe(0);
  expect(inHand.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  await consumption.close();
});

it('a consumption is not confused by headers that look like the server’s own', async () => {
  const delivered: number[] = [];
  const consumption = await nats.source.consume((delivery) => {
    delivered.push(delivery.sequence);
    delivery.ack();
  });
  for (const code of [100, 404, 409, 503]) {
    await nats.connection
      .jetstream()
      .publish(SUBJECT, bytes('x'), { headers: headers(code, 'Consumer Deleted') });
  }
  await soon(() => expect(delivered).toEqual([1, 2, 3, 4]));
  await consumption.close();
});

it('a consumption goes on after undelivered messages came to where it listens', async () => {
  const forger = await openPorts(nats.server.url);
  const asked = new Promise<string>((resolve) => {
    forger.connection.subscribe('$JS.API.CONSUMER.MSG.NEXT.>', {
      max: 1,
      callback: (_, { reply = '' }) => resolve(reply),
    });
  });
  await forger.connection.flush();
  const delivered: number[] = [];
  const consumption = await nats.source.consume((delivery) => {
    delivered.push(delivery.sequence);
    delivery.ack();
  });
  const inbox = await asked;
  for (const reply of ['$JS.ACK.', '$JS.ACK.a.b.c.d.e.f.g', `$JS.ACK.S.c.1.1.1.${'9'.repeat(40)}.0`]) {
    forger.connection.publish(inbox, bytes('x'), { reply });
  }
  for (const code of [100, 400, 408, 409, 503]) {
    forger.connection.publish(inbox, bytes(''), { headers: headers(code, 'no such thing') });
  }
  await forger.connection.flush();
  const { sequence } = await nats.source.publish(SUBJECT, bytes('x'));
  await soon(() => expect(delivered).toContain(sequence));
  await consumption.close();
  await forger.close();
});

it('a consumption that reconnects makes one request at a time, and listens to none that it made before', async () => {
  const other = await openPorts(nats.server.url);
  const inboxes = new Set<string>();
  other.connection.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${DISPATCH_STREAM}.${EXTRACTOR_CONSUMER}`, {
    callback: (_, { reply = '' }) => inboxes.add(reply.replace(/\.\d+$/, '')),
  });
  await other.connection.flush();
  const delivered: number[] = [];
  const consumption = await nats.source.consume((delivery) => {
    delivered.push(delivery.sequence);
    delivery.ack();
  });
  await other.source.publish(SUBJECT, bytes('x'));
  await soon(() => expect(inboxes.size).toBe(2));
  const reconnected = new Promise<void>((resolve) => onReconnect(nats.connection, resolve));
  await nats.connection.reconnect();
  await reconnected;
  await soon(() => expect(inboxes.size).toBe(3));
  for (const text of ['y', 'z']) await other.source.publish(SUBJECT, bytes(text));
  await soon(() => expect(delivered).toEqual([1, 2, 3]));
  await nats.connection.flush();
  await other.connection.flush();
  expect(inboxes.size).toBe(3);
  await consumption.close();
  await other.close();
});
