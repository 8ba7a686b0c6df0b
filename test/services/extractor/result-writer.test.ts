import { describe, expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { token } from '../../../src/contracts/names.js';
import { isDispatchEvent, RESULT_SUBJECTS } from '../../../src/contracts/session-events.js';
import { checkpointOf } from '../../../src/memory/session/checkpoint.js';
import { MAX_COUNTED } from '../../../src/memory/session/dispatch-window.js';
import { ResultWriter } from '../../../src/services/extractor/result-writer.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { implementer, recorded, rejected, timeOf } from '../../support/builders.js';
import { freshReader } from '../../support/faults/clean-run.js';
import * as fc from '../../support/properties.js';

const SESSION = token('hot', 'session');
/** Small enough to look most late dispatches up. */
const SMALL = 8;
const BODY = implementer();

type Fault = 'none' | 'refused' | 'unanswered';

class World {
  readonly log = new MemorySessionLog({ sequenceStep: 3 });
  published = 0;
  readonly calls = { appends: 0, reads: 0, met: 0, loads: 0 };

  /** Returns a worker whose next appends have these faults, one each. */
  worker(faults: Fault[] = [], remembered = SMALL): ResultWriter {
    const { log, calls } = this;
    const reader = freshReader(log);
    return new ResultWriter(
      {
        log: {
          append: async (session, event, options) => {
            const fault = faults.shift() ?? 'none';
            if (fault === 'refused') throw new Error('refused');
            calls.appends += 1;
            const appended = await log.append(session, event, options);
            if (fault === 'unanswered') throw new Error('unanswered');
            return appended;
          },
          read: (session, range) => {
            calls.reads += 1;
            return log.read(session, range);
          },
          newestResults: (session) => {
            calls.met += 1;
            return log.newestResults(session);
          },
        },
        reader: {
          load: (session) => {
            calls.loads += 1;
            return reader.load(session);
          },
        },
      },
      remembered,
    );
  }

  /** Returns the dispatches in the log, in its order. */
  async stored(): Promise<number[]> {
    const { events } = await this.log.read(SESSION, { after: 0 });
    return events.flatMap(({ event }) => (isDispatchEvent(event) ? event.data.dispatch.sequence : []));
  }
}

const eventOf = (dispatch: number) => (dispatch % 5 === 0 ? rejected(dispatch) : recorded(dispatch, BODY));
const record = (writer: ResultWriter, dispatch: number) =>
  writer.record(SESSION, eventOf(dispatch), () => eventOf(dispatch));
const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Replaces the log by a checkpoint of its state. */
async function compacted({ log }: World): Promise<void> {
  const { state } = (await freshReader(log).load(SESSION)).folded;
  const data = checkpointOf(state, 'archived');
  const event = { v: EVENT_VERSION, type: 'session.checkpoint', at: timeOf(1), data } as const;
  const appended = await log.append(SESSION, event, { expectedSequence: state.lastCommand });
  if (appended.outcome === 'appended') await log.removeBefore(SESSION, appended.sequence);
}

describe('dispatches of a session', () => {
  it('dispatches are stored once each, however late and often they come, to whichever worker, whatever is cut off', async () => {
    const turn = fc.record({
      publish: fc.nat(30),
      /** Selects among the unacknowledged: an old one or the newest. */
      oldest: fc.boolean(),
      picks: fc.array(fc.nat(200), { maxLength: 10 }),
      worker: fc.nat(1),
      fault: fc.constantFrom<Fault[]>('none', 'none', 'none', 'refused', 'unanswered'),
      twice: fc.boolean(),
      checkpoint: fc.nat(9).map((number) => number === 0),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 25 }), async (turns) => {
        const world = new World();
        const waiting = new Set<number>();
        const faults: [Fault[], Fault[]] = [[], []];
        const workers = [world.worker(faults[0]), world.worker(faults[1])] as const;
        for (const { publish, oldest, picks, worker, fault, twice, checkpoint } of turns) {
          for (let count = 0; count < publish; count += 1) waiting.add(++world.published);
          const open = [...waiting];
          const taken = new Set(
            picks.map((pick) => open[oldest ? pick % 3 : open.length - 1 - (pick % 15)] ?? 0),
          );
          if (fault !== 'none') faults[worker === 0 ? 0 : 1].push(fault);
          const [first, second] = worker === 0 ? workers : [workers[1], workers[0]];
          await Promise.all(
            [...taken]
              .filter((dispatch) => dispatch > 0)
              .map(async (dispatch) => {
                const tries = [first, ...(twice ? [second, first] : [])];
                const ended = await Promise.allSettled(tries.map((each) => record(each, dispatch)));
                if (ended.some(({ status }) => status === 'fulfilled')) waiting.delete(dispatch);
              }),
          );
          if (checkpoint) await compacted(world);
        }
        const heir = world.worker();
        for (const dispatch of upTo(world.published)) await record(heir, dispatch);
        const { state } = (await freshReader(world.log).load(SESSION)).folded;
        expect(upTo(world.published).every((dispatch) => state.dispatches.has(dispatch))).toBe(true);
        const { counts } = state.dispatches.current();
        expect(counts.implementer + counts.rejected).toBe(world.published);
        const stored = await world.stored();
        expect(new Set(stored).size).toBe(stored.length);
      }),
      { numRuns: 60 },
    );
  });

  it('dispatches cost one append each, and no read, while none comes late', async () => {
    const world = new World();
    const writer = world.worker([], MAX_COUNTED);
    await Promise.all(upTo(500).map((dispatch) => record(writer, dispatch)));
    expect(world.calls).toEqual({ appends: 500, reads: 0, met: 1, loads: 1 });
    await Promise.all(upTo(500).map((dispatch) => record(world.worker(), dispatch + 500)));
    expect(world.calls).toMatchObject({ appends: 1000 + world.calls.reads, loads: 1 });
  });

  it('a dispatch that comes again during its append is stored once, and counts as it was stored', async () => {
    const world = new World();
    const writer = world.worker();
    const both = await Promise.all([record(writer, 5), record(writer, 5), record(world.worker(), 5)]);
    expect(both).toEqual(Array(3).fill({ rejected: rejected(5).data.error }));
    expect(await world.stored()).toEqual([5]);
  });

  it('a dispatch counts as it was noted first: a rejected one is not recorded later', async () => {
    const world = new World();
    await record(world.worker(), 5);
    const again = recorded(5, BODY);
    const counted = await world.worker().record(SESSION, again, () => again);
    expect(counted).toEqual({ rejected: rejected(5).data.error });
    expect(await world.stored()).toEqual([5]);
  });

  it('a dispatch whose events are removed does not count again', async () => {
    const world = new World();
    await Promise.all(upTo(RESULT_SUBJECTS + 3).map((dispatch) => record(world.worker(), dispatch)));
    await compacted(world);
    const heir = world.worker();
    for (const dispatch of upTo(RESULT_SUBJECTS + 4)) await record(heir, dispatch);
    expect(await world.stored()).toEqual([RESULT_SUBJECTS + 4]);
  });

  it('a worker meets a session again whose events were removed meanwhile', async () => {
    const world = new World();
    const writer = world.worker();
    await record(writer, 1);
    await compacted(world);
    await record(writer, 1 + RESULT_SUBJECTS);
    expect(await world.stored()).toEqual([1 + RESULT_SUBJECTS]);
    expect(world.calls.met).toBe(2);
  });

  it('a message that is not an event does not keep dispatches from being stored', async () => {
    const world = new World();
    world.log.inject(SESSION, Buffer.from('no event'), 'result.1');
    await record(world.worker(), 1);
    expect(await world.stored()).toEqual([1]);
  });
});
