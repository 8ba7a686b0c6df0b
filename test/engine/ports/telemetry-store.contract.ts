import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_TELEMETRY, type SessionTelemetry } from '../../../src/contracts/compile-request.js';
import type { TelemetryStore } from '../../../src/engine/ports/telemetry-store.js';
import { newSession } from './opened.js';

/** A telemetry store, also opened as another process. */
export interface OpenedTelemetryStore {
  readonly store: TelemetryStore;
  readonly other: TelemetryStore;
  close(): Promise<void>;
}

export function counted(counts: Partial<SessionTelemetry> = { compiles: 1 }): SessionTelemetry {
  return { ...NO_TELEMETRY, ...counts };
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

    it('the telemetry store adds up what processes have counted, for their session alone', async () => {
      const [session, another] = [newSession('sum'), newSession('sum')];
      const failing = { compiles: 2, fallbacks: { rebuild_failed: 2 }, retrievalMs: 5, retrievalMaxMs: 4 };
      await opened.store.add(session, counted(failing));
      const more = { fallbacks: { rebuild_failed: 1, other: 1 }, retrievalMaxMs: 3 };
      await opened.other.add(session, counted(more));
      await opened.store.add(another, counted());
      const sum = { ...failing, fallbacks: { rebuild_failed: 3, other: 1 } };
      expect(await opened.store.load(session)).toEqual(counted(sum));
      expect(await opened.other.load(session)).toEqual(counted(sum));
      expect(await opened.other.load(another)).toMatchObject({ compiles: 1 });
    });

    it('the telemetry store loses nothing where two processes write at once', async () => {
      const session = newSession('both');
      const write = async (store: TelemetryStore) => {
        for (let times = 0; times < 30; times += 1) await store.add(session, counted());
      };
      await Promise.all([write(opened.store), write(opened.other)]);
      expect((await opened.store.load(session))?.compiles).toBe(60);
    });
  });
}
