import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import type { DispatchDelivery } from '../../../src/engine/ports/dispatch-source.js';
import { retryDelay, SessionLanes } from '../../../src/services/extractor/session-lanes.js';
import * as fc from '../../support/properties.js';

const FULL = new ThroughlineError('store_full', 'the log is full');

function lanesOf(maxActive: number) {
  const time = { ms: 1_000_000 };
  const lanes = new SessionLanes({ maxActive, now: () => time.ms, random: () => 1 });
  let sequence = 0;
  const delivery = (bytes = 1): DispatchDelivery => {
    sequence += 1;
    return {
      subject: '',
      body: new Uint8Array(bytes),
      sequence,
      at: '',
      delivery: 1,
      ack() {},
      working() {},
      nak() {},
      term() {},
    };
  };
  const arrive = (session: string, bytes?: number) => lanes.arrived(session, delivery(bytes));
  const begin = () => {
    const held = lanes.next();
    if (held === undefined) throw new Error('none may begin');
    return held;
  };
  /** Begins everything that may begin now, by session. */
  const beginAll = () => {
    const begun = [];
    for (let held = lanes.next(); held !== undefined; held = lanes.next()) begun.push(held);
    return begun;
  };
  return { time, lanes, delivery, arrive, begin, beginAll };
}

/** Fails a session's attempts until its circuit is open. */
function troubled(maxActive = 10) {
  const under = lanesOf(maxActive);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    under.arrive('stuck');
    under.lanes.failed(under.begin(), FULL);
  }
  return under;
}

describe('sessions take turns', () => {
  it('sessions take turns with up to eight dispatches each, in their order', () => {
    const { lanes, arrive, begin } = lanesOf(1);
    const arrived = [...'a'.repeat(17), ...'b'.repeat(9), 'c'];
    for (const session of arrived) arrive(session);
    const order = arrived.map(() => {
      const held = begin();
      lanes.succeeded(held);
      return held;
    });
    const turns = ['a'.repeat(8), 'b'.repeat(8), 'c', 'a'.repeat(8), 'b', 'a'];
    expect(order.map(({ session }) => session).join('')).toBe(turns.join(''));
    const ofA = order.flatMap(({ session, delivery }) => (session === 'a' ? [delivery.sequence] : []));
    expect(ofA).toEqual(Array.from({ length: 17 }, (_, index) => index + 1));
  });

  it('a session whose next dispatches come one by one has no more than a turn of eight', () => {
    const { lanes, arrive, begin } = lanesOf(1);
    for (const session of ['a', 'a', 'b']) arrive(session);
    let before = 0;
    for (let held = begin(); held.session === 'a'; held = begin()) {
      lanes.succeeded(held);
      arrive('a');
      before += 1;
    }
    expect(before).toBe(8);
  });

  it('each of more sessions than there are places is served alike, in whatever order their dispatches end', () => {
    fc.assert(
      fc.property(
        fc.infiniteStream(fc.nat()),
        fc.constantFrom([16, 40], [32, 33], [20, 18]),
        (picks, [places, count]) => {
          const { lanes, arrive, beginAll } = lanesOf(places);
          const served = new Map<string, number>();
          const sessions = Array.from({ length: count }, (_, index) => `${index}`);
          for (const session of sessions) for (let at = 0; at < 30; at += 1) arrive(session);
          const active = beginAll();
          for (const pick of picks.take(count * 60)) {
            const [held] = active.splice(pick % active.length, 1);
            if (held === undefined) throw new Error('nothing is in work');
            lanes.succeeded(held);
            served.set(held.session, (served.get(held.session) ?? 0) + 1);
            arrive(held.session);
            active.push(...beginAll());
          }
          for (const session of sessions) expect(served.get(session) ?? 0).toBeGreaterThan(30);
        },
      ),
      { numRuns: 10 },
    );
  });
});

describe('what waits in memory', () => {
  it('a flood fits in memory, and more is requested to get past it', () => {
    const { lanes, arrive, beginAll } = lanesOf(10);
    for (let index = 0; index < 20_000; index += 1) expect(arrive('hot')).toBeUndefined();
    beginAll();
    expect(lanes.size).toBe(20_000);
    expect(lanes.hasCapacity()).toBe(true);
  });

  it.each([
    ['by number', 40_000, 1, 24_000],
    ['by bytes', 400, 1024 * 1024, 24],
  ])(
    'one session takes at most three quarters of memory, and a new one finds room: %s',
    (_, count, bytes, most) => {
      const { lanes, arrive, beginAll } = lanesOf(10);
      const delays = Array.from({ length: count }, () => arrive('hot', bytes) ?? 0);
      expect(lanes.size).toBe(most);
      const back = delays.slice(most);
      expect(Math.min(...back)).toBeGreaterThan(0);
      // In order, however long it takes.
      expect(back).toEqual(back.toSorted((one, other) => one - other));
      beginAll();
      expect(arrive('other', bytes)).toBeUndefined();
      expect(beginAll().map(({ session }) => session)).toEqual(['other']);
    },
  );
});

describe('a session whose log takes nothing', () => {
  it('a session whose log takes nothing has its waiting dispatches put back after three failures in a row, and others go on', () => {
    const { lanes, arrive, beginAll } = lanesOf(10);
    for (let index = 0; index < 8; index += 1) arrive('stuck');
    const [one, two, three] = beginAll();
    if (!one || !two || !three) throw new Error('three should have begun');
    expect(lanes.failed(one, FULL)).toMatchObject({ openCircuit: undefined, putBack: [] });
    expect(lanes.failed(two, FULL)).toMatchObject({ openCircuit: undefined, putBack: [] });
    const { openCircuit, putBack } = lanes.failed(three, FULL);
    expect(openCircuit).toMatchObject({ session: 'stuck', code: 'store_full', reason: 'the log is full' });
    expect(putBack).toHaveLength(3);
    arrive('other');
    expect(beginAll().map(({ session }) => session)).toEqual(['other']);
  });

  it('a session whose log takes nothing is tried with one dispatch after each pause, and the pauses grow up to 30 s', () => {
    const { time, lanes, arrive, begin } = troubled();
    const pauses = Array.from({ length: 10 }, () => {
      const began = time.ms;
      while (arrive('stuck') !== undefined) time.ms += 50;
      expect(arrive('stuck')).toBeGreaterThan(0);
      lanes.failed(begin(), FULL);
      return time.ms - began;
    });
    expect(pauses.slice(2)).toEqual(pauses.slice(2).toSorted((one, other) => one - other));
    expect(pauses.at(-1)).toBe(30_000);
  });

  it('a session whose log rejected writes continues with all its dispatches once an attempt has succeeded', () => {
    const { time, lanes, arrive, begin, beginAll } = troubled();
    time.ms += 60_000;
    arrive('stuck');
    expect(lanes.succeeded(begin())).toMatchObject({ session: 'stuck' });
    for (let index = 0; index < 4; index += 1) expect(arrive('stuck')).toBeUndefined();
    expect(beginAll()).toHaveLength(4);
    expect(lanes.setAside()).toEqual({ sessions: 0, dispatches: 0, worst: [] });
  });

  it('a session whose log takes nothing is counted as set aside until it comes back, with the time since when', () => {
    const { time, lanes, arrive } = troubled();
    for (let index = 0; index < 500; index += 1) arrive('stuck');
    const worst = [{ session: 'stuck', since: '1970-01-01T00:16:40.000Z' }];
    expect(lanes.setAside()).toMatchObject({ sessions: 1, dispatches: 503, worst });
    time.ms += 10_000;
    expect(lanes.setAside()).toMatchObject({ sessions: 1, dispatches: 0, worst });
  });
});

describe('attempts of a dispatch', () => {
  it('attempts of a dispatch are those that failed: being put back is not one', () => {
    const { lanes, delivery, time, begin } = lanesOf(10);
    const it = delivery();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      time.ms += 60_000;
      expect(lanes.arrived('s', it)).toBeUndefined();
      const held = begin();
      expect(lanes.failures(held)).toBe(attempt);
      lanes.failed(held, FULL);
      if (attempt >= 2) expect(lanes.arrived('s', it)).toBeGreaterThan(0);
    }
  });
});

it('the retry delay grows with each delivery, up to 30 s, and varies by half', () => {
  const chance = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), chance, (delivery, random) => {
      const delay = retryDelay(delivery, random);
      const longest = retryDelay(delivery, 1);
      expect(delay).toBeGreaterThanOrEqual(longest / 2);
      expect(delay).toBeLessThanOrEqual(longest);
      expect(retryDelay(delivery + 1, random)).toBeGreaterThanOrEqual(delay);
      expect(longest).toBeLessThanOrEqual(30_000);
      expect(Number.isInteger(delay)).toBe(true);
    }),
  );
});
