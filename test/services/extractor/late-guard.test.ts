import { describe, expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import { CountedDispatches, type CountedMemory } from '../../../src/memory/session/dispatch-window.js';
import { LateGuard, type LateGuardPorts } from '../../../src/services/extractor/late-guard.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { implementer, recorded, rejected } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

const SESSION = token('hot', 'session');
/** Small enough to forget a dispatch after nine newer ones. */
const SMALL: CountedMemory = { maxBytes: 8, surely: 8, maxLate: 2 };
const BODY = implementer();

type Fault = 'none' | 'refused' | 'unanswered' | 'killed';

class World {
  readonly log = new MemorySessionLog({ dedupeLast: 0 });
  published = 0;
  appends = 0;
  reads = 0;

  /** Returns a worker whose next appends have these faults, one each. */
  worker(faults: Fault[] = []): LateGuard {
    const log: LateGuardPorts['log'] = {
      append: async (session, event, options) => {
        const fault = faults.shift() ?? 'none';
        if (fault === 'refused') throw new Error('refused');
        this.appends += 1;
        const appended = await this.log.append(session, event, options);
        if (fault === 'unanswered') throw new Error('unanswered');
        if (fault === 'killed') throw new Error('killed');
        return appended;
      },
      read: (session, range) => {
        this.reads += 1;
        return this.log.read(session, range);
      },
    };
    return new LateGuard(
      { log, source: { newest: async () => this.published } },
      { memory: SMALL, askMs: 0 },
    );
  }

  /** Counts each dispatch in the fold of the log. */
  async counted(): Promise<Map<number, number>> {
    const found = new Map<number, number>();
    const counted = new CountedDispatches(undefined, SMALL);
    for (const { sequence, event } of (await this.log.read(SESSION, { after: 0 })).events) {
      if (event.type !== 'fact.recorded' && event.type !== 'dispatch.rejected') continue;
      const { sequence: dispatch, checked } = event.data.dispatch;
      if (counted.count(dispatch, sequence, checked)) found.set(dispatch, (found.get(dispatch) ?? 0) + 1);
    }
    return found;
  }
}

const eventOf = (dispatch: number) => (dispatch % 5 === 0 ? rejected(dispatch) : recorded(dispatch, BODY));
const record = (guard: LateGuard, dispatch: number, isNew = true) =>
  guard.record(SESSION, eventOf(dispatch), () => eventOf(dispatch), isNew);
const dispatchesIn = async ({ log }: World) =>
  (await log.read(SESSION, { after: 0 })).events.flatMap(({ event }) =>
    event.type === 'fact.recorded' || event.type === 'dispatch.rejected' ? event.data.dispatch.sequence : [],
  );
const once = (count: number) => new Map(Array.from({ length: count }, (_, index) => [index + 1, 1]));
const sorted = (counts: Map<number, number>) => new Map([...counts].sort(([one], [other]) => one - other));

describe('dispatches of a session', () => {
  it('a dispatch that comes again during its append is stored once', async () => {
    const world = new World();
    let send = () => {};
    const sent = new Promise<void>((resolve) => {
      send = resolve;
    });
    const append: LateGuardPorts['log']['append'] = (session, event, options) =>
      sent.then(() => world.log.append(session, event, options));
    const read: LateGuardPorts['log']['read'] = (session, range) => world.log.read(session, range);
    const guard = new LateGuard({ log: { append, read }, source: { newest: async () => 1 } });
    const all = [record(guard, 1), record(guard, 1, false), record(guard, 1, false)];
    await Promise.race([...all, new Promise(setImmediate)]);
    send();
    expect(await Promise.all(all)).toEqual(Array(3).fill('fact.recorded'));
    expect(await dispatchesIn(world)).toEqual([1]);
  });

  it('dispatches of a session count once each, however late and often they come, whatever is cut off on the way', async () => {
    const turn = fc.record({
      publish: fc.nat(12),
      /** Selects among the unacknowledged: an old one or the newest. */
      oldest: fc.boolean(),
      picks: fc.array(fc.nat(200), { maxLength: 10 }),
      worker: fc.nat(1),
      fault: fc.constantFrom<Fault[]>('none', 'none', 'none', 'refused', 'unanswered', 'killed'),
      twice: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 25 }), async (turns) => {
        const world = new World();
        const waiting = new Set<number>();
        const begun = new Set<number>();
        const faults: [Fault[], Fault[]] = [[], []];
        const workers = [world.worker(faults[0]), world.worker(faults[1])] as const;
        for (const { publish, oldest, picks, worker, fault, twice } of turns) {
          for (let count = 0; count < publish; count += 1) waiting.add(++world.published);
          const open = [...waiting];
          const taken = [
            ...new Set(picks.map((pick) => open[oldest ? pick % 3 : open.length - 1 - (pick % 15)] ?? 0)),
          ];
          if (fault !== 'none') faults[worker === 0 ? 0 : 1].push(fault);
          await Promise.all(
            taken
              .filter((dispatch) => dispatch > 0)
              .map(async (dispatch) => {
                const [first, second] = worker === 0 ? workers : [workers[1], workers[0]];
                const isNew = !begun.has(dispatch);
                begun.add(dispatch);
                const tries = twice
                  ? [record(first, dispatch, isNew), record(second, dispatch, false)]
                  : [record(first, dispatch, isNew)];
                const ended = await Promise.allSettled(tries);
                if (ended.some(({ status }) => status === 'fulfilled')) waiting.delete(dispatch);
              }),
          );
        }
        const heir = world.worker();
        for (const dispatch of waiting) await record(heir, dispatch, !begun.has(dispatch));
        expect(sorted(await world.counted())).toEqual(once(world.published));
      }),
      { numRuns: 120 },
    );
  });

  it('dispatches of a session cost one append each and no read while none comes late', async () => {
    const world = new World();
    const guard = world.worker();
    for (let dispatch = 1; dispatch <= 500; dispatch += 1) {
      world.published = dispatch;
      await record(guard, dispatch);
    }
    expect(world).toMatchObject({ appends: 500, reads: 0 });
  });

  it('dispatches that come late are looked for together, in one pass', async () => {
    const world = new World();
    const guard = world.worker();
    world.published = 300;
    for (let dispatch = 11; dispatch <= 300; dispatch += 1) await record(guard, dispatch);
    const { reads, appends } = world;
    await Promise.all(Array.from({ length: 10 }, (_, index) => record(guard, index + 1)));
    // So small a memory can prove two at a time: five passes, of two looks and a search each.
    expect(world.reads - reads).toBeLessThanOrEqual(15);
    expect(world.appends - appends).toBeLessThanOrEqual(10 + 8 + 6 + 4 + 2);
    expect(sorted(await world.counted())).toEqual(once(300));
  });
});

describe('a dispatch that was in work before', () => {
  it('a dispatch that was in work before is not appended again when its event is stored', async () => {
    const world = new World();
    world.published = 3;
    const lost = world.worker(['unanswered', 'refused']);
    await expect(record(lost, 1)).rejects.toThrow('unanswered');
    await expect(record(lost, 2)).rejects.toThrow('refused');
    await record(lost, 3);
    const heir = world.worker();
    for (const dispatch of [1, 2, 3]) await record(heir, dispatch, false);
    expect(await dispatchesIn(world)).toEqual([1, 3, 2]);
  });

  it('a dispatch that was in work before is recorded though it was given up meanwhile', async () => {
    const world = new World();
    world.published = 1;
    await world.log.append(SESSION, rejected(1));
    const guard = world.worker();
    const event = recorded(1, BODY);
    for (let time = 0; time < 2; time += 1) await guard.record(SESSION, event, () => event, false);
    const { events } = await world.log.read(SESSION, { after: 0 });
    expect(events.map((stored) => stored.event.type)).toEqual(['dispatch.rejected', 'fact.recorded']);
  });

  it('a dispatch that was in work before is forgotten by the fold between the look and its event, and counts all the same', async () => {
    const world = new World();
    world.published = 10;
    for (let dispatch = 2; dispatch <= 9; dispatch += 1) await world.log.append(SESSION, eventOf(dispatch));
    let isFirst = true;
    const append: LateGuardPorts['log']['append'] = async (session, event, options) => {
      if (isFirst) await world.log.append(SESSION, eventOf(10));
      isFirst = false;
      return world.log.append(session, event, options);
    };
    const read: LateGuardPorts['log']['read'] = (session, range) => world.log.read(session, range);
    const ports = { log: { append, read }, source: { newest: async () => world.published } };
    await record(new LateGuard(ports, { memory: SMALL, askMs: 0 }), 1, false);
    expect(sorted(await world.counted())).toEqual(once(10));
  });
});

describe('a dispatch that the fold is known to have forgotten', () => {
  it('a dispatch that the fold is known to have forgotten is looked up first, and not appended when it has counted', async () => {
    const world = new World();
    const guard = world.worker();
    for (let dispatch = 1; dispatch <= 100; dispatch += 1) {
      world.published = 100;
      if (dispatch !== 7) await record(guard, dispatch);
    }
    await record(guard, 7);
    const { appends } = world;
    await record(guard, 7);
    await record(guard, 8);
    await record(world.worker(), 100);
    expect(world.appends).toBe(appends + 1);
    const events: SessionEvent[] = (await world.log.read(SESSION, { after: 0 })).events.map(
      ({ event }) => event,
    );
    expect(events.filter((event) => JSON.stringify(event).includes('"checked"'))).toHaveLength(1);
  });
});
