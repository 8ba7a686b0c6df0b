import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DISPATCH_STREAM, dispatchSubject, EXTRACTOR_CONSUMER, token } from '../../src/contracts/names.js';
import { startCli } from '../support/cli.js';
import { loadFresh } from '../support/faults/clean-run.js';
import { expectNobodyConnected } from '../support/faults/nats-run.js';
import { type Chance, chanceOf } from '../support/faults/random.js';
import { seeds, withSeed } from '../support/faults/settings.js';
import { startPrivateNats } from '../support/nats-server.js';
import { allDealtWith, freshState, manyResults, type System, soon, startSystem } from '../support/system.js';

/**
 * One session has 1,200 results a second, others a few, and the services are killed again and again. The dispatches of a
 * killed process are redelivered after the ack wait, behind thousands of newer results of its session.
 */
const ACK_WAIT_MS = 7000;
const HOT = token('hot', 'session');
const OTHERS = ['calm-1', 'calm-2', 'calm-3'].map((name) => token(name, 'session'));
const RESULTS = manyResults(66);
const env = {
  THROUGHLINE_TUNING: `ackWaitMs=${ACK_WAIT_MS}`,
  THROUGHLINE_LOG_LEVEL: 'silent',
};
const BURST = 240;
const BURST_EVERY_MS = 200;
const KILLS = 2;
/** Minimum unacknowledged dispatches for a kill to be worthwhile. */
const WORTH_IT = 20;

describe('a hot session among others', () => {
  it.each(seeds(1, 40).map((seed) => ({ seed })))(
    'a hot session among others loses no result when the services are killed under load: seed $seed',
    ({ seed }) => withSeed('hot-session', seed, () => round(chanceOf(seed))),
    240_000,
  );
});

async function round(chance: Chance): Promise<void> {
  await using nats = await startPrivateNats({ monitor: true });
  {
    await using system = await startSystem({ nats, env, only: [] });
    const published = new Map([HOT, ...OTHERS].map((session) => [session, 0]));
    let over = false;
    const publishing = publish(system, published, () => over);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await using services = await startCli(['admin', 'serve'], { NATS_URL: nats.url, ...env });
      await sleep(chance.between(0, 700));
      await soon(async () => expect(await inHand(system)).toBeGreaterThan(WORTH_IT));
      services.signal('SIGKILL');
      await services.exited;
    }
    await using services = await startCli(['admin', 'serve'], { NATS_URL: nats.url, ...env });
    await sleep(ACK_WAIT_MS + 500);
    over = true;
    await publishing;
    await allDealtWith(system.ports);
    for (const [session, count] of published) {
      for (const state of [await freshState(system, session), await loadFresh(system.ports.log, session)]) {
        const { implementer, reviewer, rejected } = state.dispatches.current().counts;
        expect([implementer + reviewer, rejected], session).toEqual([count, 0]);
      }
    }
    expect(await services.stop()).toEqual({ code: 0, signal: null });
  }
  await expectNobodyConnected(nats);
}

async function publish(
  { ports }: System,
  published: Map<string, number>,
  over: () => boolean,
): Promise<void> {
  for (let next = 0; !over(); ) {
    const pause = sleep(BURST_EVERY_MS);
    const sent = Array.from({ length: BURST }, async (_, index) => {
      const session = index < OTHERS.length ? (OTHERS[index] ?? HOT) : HOT;
      const result = RESULTS[next++ % RESULTS.length];
      if (result === undefined) return;
      await ports.source.publish(dispatchSubject(session, result.role), Buffer.from(result.body));
      published.set(session, (published.get(session) ?? 0) + 1);
    });
    await Promise.all([...sent, pause]);
  }
}

async function inHand({ ports }: System): Promise<number> {
  const jsm = await ports.connection.jetstreamManager({ checkAPI: false });
  return (await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER)).num_ack_pending;
}
