import type { KV } from 'nats';
import { describe, expect, it } from 'vitest';
import { NO_TELEMETRY, type SessionTelemetry } from '../../../src/contracts/compile-request.js';
import { TELEMETRY_BUCKET } from '../../../src/contracts/names.js';
import type { NatsPorts } from '../../../src/nats/open-nats.js';
import { newSession, twoOnNats } from './opened.js';

function counted(counts: Partial<SessionTelemetry> = { compiles: 1 }): SessionTelemetry {
  return { ...NO_TELEMETRY, ...counts };
}

describe('the telemetry store', async () => {
  const opened = await twoOnNats();

  it('the telemetry store holds nothing for a session that was never counted', async () => {
    expect(await opened.nats.telemetry.load(newSession('none'))).toBeUndefined();
  });

  it('the telemetry store adds up what processes have counted, for their session alone', async () => {
    const [session, another] = [newSession('sum'), newSession('sum')];
    const failing = { compiles: 2, fallbacks: { rebuild_failed: 2 }, retrievalMs: 5, retrievalMaxMs: 4 };
    await opened.nats.telemetry.add(session, counted(failing));
    const more = { fallbacks: { rebuild_failed: 1, other: 1 }, retrievalMaxMs: 3 };
    await opened.other.telemetry.add(session, counted(more));
    await opened.nats.telemetry.add(another, counted());
    const sum = { ...failing, fallbacks: { rebuild_failed: 3, other: 1 } };
    expect(await opened.nats.telemetry.load(session)).toEqual(counted(sum));
    expect(await opened.other.telemetry.load(session)).toEqual(counted(sum));
    expect(await opened.other.telemetry.load(another)).toMatchObject({ compiles: 1 });
  });

  it('the telemetry store loses nothing where two processes write at once', async () => {
    const session = newSession('both');
    const write = async (store: NatsPorts['telemetry']) => {
      for (let times = 0; times < 30; times += 1) await store.add(session, counted());
    };
    await Promise.all([write(opened.nats.telemetry), write(opened.other.telemetry)]);
    expect((await opened.nats.telemetry.load(session))?.compiles).toBe(60);
  });

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
