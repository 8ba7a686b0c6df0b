import type { KV } from 'nats';
import { describe, expect, it } from 'vitest';
import { TELEMETRY_BUCKET } from '../../../src/contracts/names.js';
import { MemoryTelemetryStore } from '../../doubles/memory-telemetry-store.js';
import { newSession, twoOnNats } from './opened.js';
import { counted, telemetryStoreContract } from './telemetry-store.contract.js';

telemetryStoreContract('in memory', async () => {
  const store = new MemoryTelemetryStore();
  return { store, other: store, close: async () => {} };
});

describe('on NATS', () => {
  const opened = twoOnNats();

  telemetryStoreContract('on NATS', async () => ({
    store: opened.nats.telemetry,
    other: opened.other.telemetry,
    close: async () => {},
  }));

  const bucket = (): Promise<KV> =>
    opened.nats.connection.jetstream().views.kv(TELEMETRY_BUCKET, { bindOnly: true });

  it('the telemetry store on NATS keeps one value for each session, as JSON under its name', async () => {
    const session = newSession('json');
    await opened.nats.telemetry.add(session, counted());
    await opened.nats.telemetry.add(session, counted());
    const kv = await bucket();
    expect(JSON.parse((await kv.get(session))?.string() ?? '')).toEqual(
      await opened.other.telemetry.load(session),
    );
    expect((await kv.status()).history).toBe(1);
  });

  it.each(['', 'none', '{}', 'null', '{"compiles":1}'])(
    'the telemetry store on NATS counts from the beginning over a damaged value: %j',
    async (text) => {
      const session = newSession('damaged');
      await opened.nats.telemetry.add(session, counted());
      await (await bucket()).put(session, text);
      expect(await opened.other.telemetry.load(session)).toBeUndefined();
      await opened.other.telemetry.add(session, counted());
      expect((await opened.nats.telemetry.load(session))?.compiles).toBe(1);
    },
  );

  it('the telemetry store on NATS makes its bucket again after it was deleted', async () => {
    const session = newSession('deleted');
    await opened.nats.telemetry.add(session, counted());
    const jsm = await opened.nats.connection.jetstreamManager();
    await jsm.streams.delete(`KV_${TELEMETRY_BUCKET}`);
    expect(await opened.nats.telemetry.load(session)).toBeUndefined();
    await opened.nats.telemetry.add(session, counted());
    expect((await opened.other.telemetry.load(session))?.compiles).toBe(1);
  });
});
