import { afterEach, describe, expect, it } from 'vitest';
import { type Token, token } from '../../src/contracts/names.js';
import { PER_SESSION } from '../../src/contracts/session-layout.js';
import { createSessionReader, createSnapshotWriter } from '../../src/folding/session-folding.js';
import type { NatsPorts } from '../../src/nats/open-nats.js';
import { systemClock } from '../../src/ports/clock.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { SessionLifecycle } from '../../src/ports/session-lifecycle.js';
import { createSessionRename } from '../../src/services/lifecycle/rename-session.js';
import { openPorts } from '../ports/opened.js';
import { testedLayouts } from '../support/layouts.js';
import { canonicalOf, mortal, sessionsOfAllShapes, taker } from '../support/moved-layout.js';
import { startTestNats } from '../support/nats-server.js';

const LAYOUTS = testedLayouts(2);
const SESSIONS = 24;
/** More requests than a renaming makes. */
const MOST = 500;

describe.each(LAYOUTS)('renaming, $layout', (layout) => {
  const started: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of started.splice(0).reverse()) await stop();
  });

  /** A process that renames, dead from the request of that number on. `late` is when it begins, in seconds. */
  function process(ports: NatsPorts, lifecycle: SessionLifecycle, killedAt: number, late: number) {
    const { dying, isKilled, requests } = mortal(killedAt);
    const [log, snapshots] = [dying(ports.log), dying(ports.snapshots)];
    const rename = createSessionRename({
      ...{ log, snapshots, lifecycle: dying(lifecycle), eraser: dying(ports.eraser) },
      reader: createSessionReader({ log, snapshots, logger: silentLogger, maxSessions: 10 }),
      writer: createSnapshotWriter({ snapshots, clock: systemClock, logger: silentLogger, every: 5 }),
      archiver: { settle: async () => {} },
      inLearnings: { ...ports, projects: { load: never }, command: never },
      refuseWhileMoving: async () => {},
      clock: () => new Date(Date.now() + late * 1000).toISOString(),
      newId: () => `process-${late}`,
      logger: silentLogger,
      pause: async () => {},
    });
    return { rename, isKilled, requests };
  }

  it('killed before every second of its requests, the same renaming again brings it to its end', async () => {
    const nats = await startTestNats();
    started.push(() => nats.stop());
    const first = await openPorts(nats.url, { wanted: layout });
    started.push(() => first.close());
    const load = await taker(nats.url);
    started.push(() => load.ports.close());
    const sessions = (await sessionsOfAllShapes(load, SESSIONS)).filter((_, at) => at > 7 && at !== 20);
    const lifecycle = await first.openLifecycle();
    started.push(async () => lifecycle.close());
    const nameOf = (round: number, index: number) =>
      token(round === 0 ? `${sessions[index]}` : `${sessions[index]}-${round}`, 'session');
    // Every second point in one layout, the others in the other one.
    let killedAt = layout === PER_SESSION ? -1 : 0;
    let runs = 0;
    for (let ended = 'killed'; ended === 'killed' && killedAt < MOST; ) {
      const [round, index] = [Math.floor(runs / sessions.length), runs % sessions.length];
      runs += 1;
      killedAt += 2;
      const [from, to] = [nameOf(round, index), nameOf(round + 1, index)];
      const before = await canonicalOf(first.log, from);
      const one = process(first, lifecycle, killedAt, killedAt * 20);
      ended = await renamed(one.rename, from, to).catch((error: unknown) => {
        if (one.isKilled(error)) return 'killed';
        throw error;
      });
      await expectSame(from, to, before, killedAt * 20 + 10);
    }
    // Each request was the last one once.
    expect(killedAt).toBeGreaterThan(20);
    expect(killedAt).toBeLessThan(MOST);

    async function expectSame(from: Token, to: Token, before: string, late: number) {
      const again = process(first, lifecycle, Number.POSITIVE_INFINITY, late);
      await renamed(again.rename, from, to);
      expect(await canonicalOf(first.log, to)).toBe(before);
      expect((await first.log.read(from, { after: 0 })).events).toEqual([]);
      expect(lifecycle.archived(to)).toBeUndefined();
      expect(lifecycle.archived(from)).toMatchObject({ renamed_to: to, sequence: expect.any(Number) });
      expect(lifecycle.archived(from)?.renaming).toBeUndefined();
    }
  });
});

type Rename = ReturnType<typeof createSessionRename>;

async function renamed(rename: Rename, session: Token, to: Token): Promise<'done'> {
  while ((await rename({ session, to })).state !== 'done');
  return 'done';
}

async function never(): Promise<never> {
  throw new Error('no project has learnings here');
}
