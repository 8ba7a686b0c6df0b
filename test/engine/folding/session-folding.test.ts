import { describe, expect, it, vi } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import type { SessionReaderOptions } from '../../../src/engine/folding/session-folding.js';
import { DEFAULT_LIMITS, stateBytes } from '../../../src/memory/session/session-state.js';
import { bytesOf, DEMO, gate, spiedPorts, upTo } from '../../doubles/spied-ports.js';
import { soon } from '../../support/soon.js';

const session = (name: string) => token(name, 'session');

describe('load', () => {
  it('load folds all events while other requests have their turns, and then reads nothing but the tail', async () => {
    const ports = spiedPorts();
    const reader = ports.reader();
    const first = await ports.append(DEMO, ...upTo(40));
    const turn = vi.fn();
    setImmediate(turn);
    expect(await reader.load(DEMO)).toMatchObject({ replayed: 40, folded: { state: { sequence: first } } });
    expect(turn).toHaveBeenCalled();
    const second = await ports.append(DEMO, 41, 42);
    expect(await reader.load(DEMO)).toMatchObject({ replayed: 2, folded: { state: { sequence: second } } });
    expect(await reader.load(DEMO)).toMatchObject({ replayed: 0, folded: { sinceSnapshot: 42 } });
    expect(ports.log.read.mock.calls.map(([, range]) => range)).toEqual([
      { after: 0, limit: 256 },
      { after: first, limit: 256 },
      { after: second, limit: 256 },
    ]);
    expect(ports.snapshots.load).toHaveBeenCalledTimes(1);
  });

  it('a load in the background pauses until another caller waits', async () => {
    const ports = spiedPorts();
    await ports.append(DEMO, ...upTo(110));
    for (const [others, pauses] of [
      [0, 3],
      [1, 2],
    ]) {
      const reader = ports.reader();
      const waiting: Promise<unknown>[] = [];
      const between = vi.fn(async () => {
        if (others === 1 && between.mock.calls.length === 2) waiting.push(reader.load(DEMO));
      });
      const { folded } = await reader.load(DEMO, between);
      await Promise.all(waiting);
      expect(between).toHaveBeenCalledTimes(pauses ?? 0);
      expect(bytesOf(folded.state)).toBe(bytesOf((await ports.reader().load(DEMO)).folded.state));
    }
  });

  it('load reads skipped messages once, and logs them', async () => {
    const ports = spiedPorts();
    const reader = ports.reader();
    await ports.append(DEMO, 1);
    const garbage = ports.kept.log.inject(DEMO, new TextEncoder().encode('no event'));
    expect((await reader.load(DEMO)).folded.state.sequence).toBe(garbage);
    expect(ports.logger.warn).toHaveBeenCalledWith(
      expect.objectContaining({ skipped: 1 }),
      expect.any(String),
    );
    await reader.load(DEMO);
    expect(ports.log.read).toHaveBeenLastCalledWith(DEMO, { after: garbage, limit: 256 });
    expect(ports.logger.warn).toHaveBeenCalledTimes(1);
  });

  it('load reports each load that folded something to its listeners', async () => {
    const ports = spiedPorts();
    const onFolded = vi.fn();
    const reader = ports.reader({ onFolded });
    await reader.load(DEMO);
    expect(onFolded).not.toHaveBeenCalled();
    await ports.append(DEMO, 1, 2);
    const { folded } = await reader.load(DEMO);
    await reader.load(DEMO);
    expect(onFolded.mock.calls).toEqual([[folded]]);
  });
});

describe('load, asked for by many at once', () => {
  it('load shows a caller that comes during a read what was stored before it came', async () => {
    const ports = spiedPorts();
    const reader = ports.reader();
    await ports.append(DEMO, 1);
    const { opened, open } = gate();
    ports.log.read.mockImplementationOnce(async (...args) => {
      const read = await ports.kept.log.read(...args);
      await opened;
      return read;
    });
    const early = reader.load(DEMO).then(({ folded }) => folded.state.dispatches.has(2));
    await soon(() => expect(ports.log.read).toHaveBeenCalledTimes(1));
    await ports.append(DEMO, 2);
    const late = upTo(10).map(async () => (await reader.load(DEMO)).folded.state.dispatches.has(2));
    open();
    expect(await early).toBe(false);
    expect(await Promise.all(late)).toEqual(late.map(() => true));
    expect(ports.log.read).toHaveBeenCalledTimes(2);
  });

  it('load ends with what was stored when it was called, while more than it reads at a time keeps coming', async () => {
    const ports = spiedPorts();
    let dispatch = 0;
    const store = (count: number) => ports.append(DEMO, ...Array.from({ length: count }, () => ++dispatch));
    const before = await store(600);
    ports.log.read.mockImplementation(async (...args) => {
      const read = await ports.kept.log.read(...args);
      await store(300);
      return read;
    });
    const reader = ports.reader();
    const { folded, replayed } = await reader.load(DEMO);
    expect(folded.state.sequence).toBeGreaterThanOrEqual(before);
    expect(replayed).toBeLessThan(1200);
    // It has not read all: nothing that is quiet since then may spare the next read.
    expect((await reader.loadUnlessQuiet(DEMO, () => true)).replayed).toBeGreaterThan(0);
  });

  it('load passes a fault to those who waited for that read, and to no later caller', async () => {
    const ports = spiedPorts();
    const reader = ports.reader();
    await ports.append(DEMO, 1);
    const fault = new Error('unavailable');
    ports.log.read.mockRejectedValueOnce(fault);
    const first = reader.load(DEMO);
    const second = reader.load(DEMO);
    await expect(first).rejects.toBe(fault);
    expect((await second).replayed).toBe(1);
    ports.log.read.mockRejectedValueOnce(fault);
    await expect(reader.load(DEMO)).rejects.toBe(fault);
    await ports.append(DEMO, 2);
    expect((await reader.load(DEMO)).replayed).toBe(1);
  });

  it('load starts over after a fault in the fold, with nothing folded twice', async () => {
    const ports = spiedPorts();
    const reader = ports.reader();
    await ports.append(DEMO, 1);
    await reader.load(DEMO);
    await ports.append(DEMO, 2, 3);
    ports.log.read.mockImplementationOnce(async (...args) => {
      const { events, ...rest } = await ports.kept.log.read(...args);
      const broken = events.map((each, index) =>
        index === 0 ? each : { sequence: each.sequence, event: JSON.parse('{"type":"unheard-of"}') },
      );
      return { ...rest, events: broken };
    });
    await expect(reader.load(DEMO)).rejects.toThrow();
    const { folded, replayed } = await reader.load(DEMO);
    expect(replayed).toBe(3);
    expect(bytesOf(folded.state)).toBe(bytesOf((await ports.reader().load(DEMO)).folded.state));
  });
});

describe('the cache', () => {
  const replays = async (options: Partial<SessionReaderOptions>, ...asked: string[]) => {
    const ports = spiedPorts();
    for (const name of new Set(asked)) await ports.append(session(name), 1, 2, 3);
    const reader = ports.reader(options);
    const replayed: string[] = [];
    for (const name of asked) replayed.push(`${name}${(await reader.load(session(name))).replayed}`);
    return replayed.join(' ');
  };

  it('the cache keeps so many sessions, and forgets the one that was not used for the longest time', async () => {
    const asked = [...'abacc', ...'acbb'];
    expect(await replays({ maxCached: 2 }, ...asked)).toBe('a3 b3 a0 c3 c3 a0 c0 b3 b3');
    expect(await replays({ maxCached: 2 }, ...asked, 'b', 'c', 'a')).toBe(
      'a3 b3 a0 c3 c3 a0 c0 b3 b3 b0 c0 a3',
    );
  });

  it('the cache forgets no session for those that are asked for once', async () => {
    const many = Array.from({ length: 50 }, (_, index) => `once-${index}-`);
    const replayed = await replays({ maxCached: 2 }, 'a', 'b', ...many, 'a', 'b');
    expect(replayed).toMatch(/^a3 b3 (once-\d+-3 ){50}a0 b0$/);
  });

  it('the cache keeps no more sessions than its memory holds, but always the last one', async () => {
    const ports = spiedPorts();
    await ports.append(DEMO, 1, 2, 3);
    const one = stateBytes((await ports.reader().load(DEMO)).folded.state);
    const asked = [...'abbaa'];
    expect(await replays({ maxBytes: 2 * one }, ...asked)).toBe('a3 b3 b0 a0 a0');
    expect(await replays({ maxBytes: 2 * one - 1 }, ...asked)).toBe('a3 b3 b3 a3 a3');
    expect(await replays({ maxBytes: 1 }, ...asked, 'a')).toBe('a3 b3 b3 a3 a3 a0');
  });
});

describe('a snapshot', () => {
  const withSnapshot = async (at: number, ...later: number[]) => {
    const ports = spiedPorts();
    const sequence = await ports.append(DEMO, ...upTo(at));
    const { state } = (await ports.reader().load(DEMO)).folded;
    const text = bytesOf(state);
    await ports.kept.snapshots.save(DEMO, { sequence, text });
    await ports.append(DEMO, ...later);
    ports.log.read.mockClear();
    return { ...ports, sequence, text };
  };

  it('a snapshot is where a load begins, and the tail gives the rest', async () => {
    const { reader, sequence, log } = await withSnapshot(30, 31, 32);
    const { folded, replayed } = await reader().load(DEMO);
    expect(replayed).toBe(2);
    expect(folded).toMatchObject({ snapshotSequence: sequence, sinceSnapshot: 2 });
    expect(log.read.mock.calls).toEqual([[DEMO, { after: sequence, limit: 256 }]]);
  });

  it.each<[string, (text: string) => string]>([
    ['that is not JSON', (text) => text.slice(0, -5)],
    ['of an unknown version', (text) => text.replace('"v":1', '"v":999')],
    ['whose state is damaged', (text) => text.replace(/"facts":\[/, '"facts":[7,')],
    ['of another session', (text) => text.replace('"session":"demo"', '"session":"other"')],
  ])('a snapshot %s is logged, and the one before it is taken', async (_, damage) => {
    const { reader, kept, logger, text, sequence } = await withSnapshot(5, 6);
    expect(damage(text)).not.toBe(text);
    await kept.snapshots.save(DEMO, { sequence: sequence + 1, text: damage(text) });
    const { folded, replayed } = await reader().load(DEMO);
    expect(replayed).toBe(1);
    expect(folded.snapshotSequence).toBe(sequence);
    expect(logger.warn.mock.calls).toEqual([
      [{ session: DEMO, code: 'schema_invalid', reason: expect.any(String) }, expect.any(String)],
    ]);
  });

  it('a damaged snapshot without an older one makes the load read all events', async () => {
    const { reader, kept, text, sequence } = await withSnapshot(5, 6);
    for (const later of upTo(5)) {
      await kept.snapshots.save(DEMO, { sequence: sequence + later, text: text.slice(0, -5) });
    }
    const { folded, replayed } = await reader().load(DEMO);
    expect({ replayed, from: folded.snapshotSequence }).toEqual({ replayed: 6, from: 0 });
  });

  it('a snapshot made under other limits is ignored', async () => {
    const { reader, logger } = await withSnapshot(5);
    const { folded, replayed } = await reader({ limits: { ...DEFAULT_LIMITS, maxFacts: 10 } }).load(DEMO);
    expect(replayed).toBe(5);
    expect(folded.state.limits).toEqual({ ...DEFAULT_LIMITS, maxFacts: 10 });
    expect(logger.warn).toHaveBeenCalledTimes(1);
  });
});

describe('loadAsOf', () => {
  it('loadAsOf gives the same bytes as in the past, with and without snapshots, at every sequence', async () => {
    const ports = spiedPorts();
    const reader = ports.reader();
    const then = new Map<number, string>();
    for (const dispatch of [1, 2, 3, 3, 5, 4, 6, 7, 8, 9, 10, 11, 12]) {
      const sequence = await ports.append(DEMO, dispatch);
      const text = bytesOf((await reader.load(DEMO)).folded.state);
      then.set(sequence, text);
      if (dispatch % 2 === 0) await ports.kept.snapshots.save(DEMO, { sequence, text });
    }
    const now = bytesOf((await reader.load(DEMO)).folded.state);
    const without = ports.reader({
      snapshots: { ...ports.snapshots, loadAtOrBefore: async () => undefined },
    });
    for (const [sequence, text] of then) {
      expect(bytesOf((await reader.loadAsOf(DEMO, sequence)).folded.state)).toBe(text);
      expect(bytesOf((await without.loadAsOf(DEMO, sequence)).folded.state)).toBe(text);
    }
    expect(bytesOf((await reader.load(DEMO)).folded.state)).toBe(now);
  });

  it('loadAsOf begins at the newest snapshot that is old enough, and reads no further than asked', async () => {
    const ports = spiedPorts();
    const reader = ports.reader();
    const sequences: number[] = [];
    for (const dispatch of upTo(9)) {
      sequences.push(await ports.append(DEMO, dispatch));
      const { state } = (await reader.load(DEMO)).folded;
      const snapshot = { sequence: state.sequence, text: bytesOf(state) };
      if (dispatch % 3 === 0) await ports.kept.snapshots.save(DEMO, snapshot);
    }
    const [, , third = 0, , fifth = 0] = sequences;
    const loaded = await reader.loadAsOf(DEMO, fifth);
    expect(loaded).toMatchObject({ replayed: 2, folded: { snapshotSequence: third } });
    expect(ports.log.read).toHaveBeenLastCalledWith(DEMO, { after: third, through: fifth });
  });

  it('loadAsOf says where the session stands when it has not come that far', async () => {
    const ports = spiedPorts();
    const sequence = await ports.append(DEMO, 1, 2);
    await expect(ports.reader().loadAsOf(DEMO, sequence + 1)).rejects.toMatchObject({
      code: 'not_caught_up',
      details: { session: DEMO, asOf: sequence + 1, sequence },
    });
  });
});
