import { describe, expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { caughtUp, waitLimit } from '../../../src/engine/folding/caught-up.js';
import { ConcurrencyLimit } from '../../../src/engine/runtime/pacing.js';
import { DEMO, spiedPorts, upTo } from '../../doubles/spied-ports.js';
import { soon } from '../../support/soon.js';

/** Long enough that a test which reaches it has failed. */
const LONG_MS = 15_000;

function watched() {
  const ports = spiedPorts();
  const watching = { now: 0 };
  ports.log.watch.mockImplementation((...args) => {
    const unwatch = ports.kept.log.watch(...args);
    watching.now += 1;
    return () => {
      watching.now -= 1;
      unwatch();
    };
  });
  const reader = ports.reader();
  const until = (dispatch: number, timeoutMs = LONG_MS) =>
    caughtUp({ reader, log: ports.log, waiters: waitLimit() }, DEMO, dispatch, timeoutMs);
  return { ...ports, watching, until };
}

describe('caughtUp', () => {
  it('caughtUp waits for the dispatch, and counts all that it read meanwhile', async () => {
    const { append, until, watching } = watched();
    await append(DEMO, 1, 2);
    const waiting = until(5);
    await soon(() => expect(watching.now).toBe(1));
    await append(DEMO, 3);
    await append(DEMO, 4);
    await append(DEMO, 5);
    const { folded, replayed } = await waiting;
    expect(folded.state.dispatches.has(5)).toBe(true);
    expect(replayed).toBe(5);
    expect(watching.now).toBe(0);
  });

  it('caughtUp sees a dispatch that came during its first look, even without an announcement', async () => {
    const { append, until, log } = watched();
    log.watch.mockImplementation(() => () => {});
    log.read.mockImplementationOnce(async () => {
      await append(DEMO, 1);
      return { events: [], through: 0, skipped: 0 };
    });
    expect((await until(1)).folded.state.dispatches.has(1)).toBe(true);
    expect(log.read).toHaveBeenCalledTimes(2);
  });

  it('a wait that cannot begin gives its place back', async () => {
    const { log, reader } = watched();
    log.watch.mockImplementation(() => {
      throw new Error('connection closed');
    });
    const waiters = new ConcurrencyLimit({ perKey: 1, what: 'waits' });
    const wait = () => caughtUp({ reader: reader(), log, waiters }, DEMO, 1, 10);
    for (let again = 0; again < 2; again += 1) await expect(wait()).rejects.toThrow('connection closed');
  });

  it('caughtUp finds the dispatch without any announcement, and with ones that come too soon', async () => {
    for (const announce of [() => () => {}, spurious]) {
      const { append, until, log } = watched();
      log.watch.mockImplementation((_, onEvent) => announce(onEvent));
      const waiting = until(1);
      await soon(() => expect(log.read.mock.calls.length).toBeGreaterThan(3));
      await append(DEMO, 1);
      expect((await waiting).folded.state.dispatches.has(1)).toBe(true);
    }
  });

  it('caughtUp says where the session stands when the time is over, and stops watching', async () => {
    const { append, until, watching } = watched();
    const sequence = await append(DEMO, ...upTo(3));
    await append(token('another', 'session'), 9);
    const started = performance.now();
    await expect(until(9, 60)).rejects.toMatchObject({
      code: 'not_caught_up',
      message: expect.stringMatching(
        /^the newest result of session demo is 3, and 9 is not in it after 60 ms/,
      ),
      details: { session: DEMO, after: 9, newestDispatch: 3, sequence },
    });
    expect(performance.now() - started).toBeGreaterThan(50);
    expect(watching.now).toBe(0);
  });

  it('caughtUp passes a fault on, and stops watching', async () => {
    const { until, log, watching } = watched();
    log.read.mockResolvedValueOnce({ events: [], through: 0, skipped: 0 });
    log.read.mockRejectedValueOnce(new Error('unavailable'));
    await expect(until(1)).rejects.toThrow('unavailable');
    expect(watching.now).toBe(0);
  });

  it('caughtUp reads for many that wait about as often as for one', async () => {
    const { append, until, log, watching } = watched();
    const waiting = upTo(100).map(() => until(1));
    await soon(() => expect(watching.now).toBe(100));
    log.read.mockClear();
    await append(DEMO, 1);
    await Promise.all(waiting);
    expect(log.read.mock.calls.length).toBeLessThan(10);
  });
});

/** Announces events that are not readable yet, several times. */
function spurious(onEvent: () => void) {
  for (let times = 0; times < 3; times += 1) queueMicrotask(onEvent);
  return () => {};
}
