import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  noTelemetry,
  type SessionTelemetry,
  type TelemetryBatch,
} from '../../../src/contracts/compile-request.js';
import type { TelemetryStore } from '../../../src/engine/ports/telemetry-store.js';
import { newSession } from './opened.js';

/** A telemetry store, also opened as another process. */
export interface OpenedTelemetryStore {
  readonly store: TelemetryStore;
  readonly other: TelemetryStore;
  close(): Promise<void>;
}

export function batch(number: number, counts: Partial<SessionTelemetry> = { compiles: 1 }): TelemetryBatch {
  return { number, counts: { ...noTelemetry().counts, ...counts } };
}

/** The contract of `src/engine/ports/telemetry-store.ts`. */
export function telemetryStoreContract(name: string, open: () => Promise<OpenedTelemetryStore>): void {
  describe(`the telemetry store, ${name}`, () => {
    let opened: OpenedTelemetryStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    it('the telemetry store holds nothing for a session that was never counted', async () => {
      expect(await opened.store.load(newSession('none'))).toBeUndefined();
    });

    it('the telemetry store adds up what writers have counted, for their session alone', async () => {
      const [session, another] = [newSession('sum'), newSession('sum')];
      const failing = { compiles: 2, fallbacks: { rebuild_failed: 2 }, retrievalMs: 5, retrievalMaxMs: 4 };
      await opened.store.add(session, 'a', batch(1, failing));
      await opened.other.add(
        session,
        'b',
        batch(1, { fallbacks: { rebuild_failed: 1, other: 1 }, retrievalMaxMs: 3 }),
      );
      await opened.store.add(another, 'a', batch(2));
      const expected = {
        counts: {
          ...noTelemetry().counts,
          compiles: 2,
          fallbacks: { rebuild_failed: 3, other: 1 },
          retrievalMs: 5,
          retrievalMaxMs: 4,
        },
        writers: { a: 1, b: 1 },
      };
      expect(await opened.store.load(session)).toEqual(expected);
      expect(await opened.other.load(session)).toEqual(expected);
      expect(await opened.other.load(another)).toMatchObject({ counts: { compiles: 1 } });
    });

    it('the telemetry store counts a batch once, however often it comes', async () => {
      const session = newSession('again');
      await opened.store.add(session, 'a', batch(1));
      await opened.other.add(session, 'b', batch(1));
      await opened.other.add(session, 'a', batch(1));
      expect((await opened.store.load(session))?.counts.compiles).toBe(2);
    });

    it('the telemetry store loses nothing where two processes write at once', async () => {
      const session = newSession('both');
      const write = async (store: TelemetryStore, writer: string) => {
        for (let number = 1; number <= 30; number += 1) await store.add(session, writer, batch(number));
      };
      await Promise.all([write(opened.store, 'a'), write(opened.other, 'b')]);
      expect((await opened.store.load(session))?.counts.compiles).toBe(60);
    });

    it('the telemetry store remembers a bounded number of writers', async () => {
      const session = newSession('writers');
      for (let writer = 0; writer < 40; writer += 1) await opened.store.add(session, `w${writer}`, batch(1));
      const { counts, writers } = (await opened.store.load(session)) ?? noTelemetry();
      expect(counts.compiles).toBe(40);
      expect(Object.keys(writers)).toHaveLength(16);
      expect(writers).toHaveProperty('w39');
    });
  });
}
