import { describe, expect, it, vi } from 'vitest';
import type { DispatchDelivery } from '../../../src/engine/ports/dispatch-source.js';
import { type Logger, silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { SessionLanes } from '../../../src/services/extractor/session-lanes.js';
import { processRoundRobin, type WorkOutcome } from '../../../src/services/extractor/session-turns.js';
import { fakeTimers } from '../../support/fake-timers.js';
import { loggedWarnings } from '../../support/logged.js';

const DONE: WorkOutcome = { kind: 'done' };

function deliveryOf(sequence: number) {
  return {
    subject: 'dispatch.demo.implementer',
    body: new Uint8Array(1),
    sequence,
    at: new Date(0).toISOString(),
    delivery: 1,
    isFirst: true,
    ack: vi.fn(),
    working: vi.fn(),
    nak: vi.fn(),
    term: vi.fn(),
  };
}

/** Returns turns on a source that delivers manually, also when it is closed. */
function turnsOn(
  work: () => Promise<WorkOutcome>,
  {
    consume = () => {},
    onFailure = () => {},
    maxActive = 1,
    ...more
  }: {
    consume?: () => void;
    onFailure?: () => void;
    maxActive?: number;
    isAwaited?: () => boolean;
    logger?: Logger;
  } = {},
) {
  let deliver: (delivery: DispatchDelivery) => void = () => {};
  const lanes = new SessionLanes({ maxActive, now: () => 0, random: () => 1 });
  const source = {
    publish: async () => ({ sequence: 0 }),
    newest: async () => 0,
    consume: async (handler: typeof deliver) => {
      consume();
      deliver = handler;
      return { close: async () => {} };
    },
  };
  const options = { lanes, logger: silentLogger, ackWaitMs: 30, now: () => 0, onFailure, ...more };
  const turns = processRoundRobin(source, work, options);
  return { lanes, turns, deliver: (delivery: DispatchDelivery) => deliver(delivery) };
}

describe('work in turns', () => {
  fakeTimers('setInterval', 'clearInterval');

  it('work in turns leaves no timer where the source cannot be consumed', async () => {
    const { turns } = turnsOn(async () => DONE, {
      consume: () => {
        throw new Error('no such consumer');
      },
    });
    await expect(turns).rejects.toThrow('no such consumer');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('work in turns that cannot stop says what is still in work', async () => {
    let finish = (_: WorkOutcome) => {};
    const { logger, warnings } = loggedWarnings();
    const { turns, deliver } = turnsOn(() => new Promise((resolve) => (finish = resolve)), { logger });
    deliver(deliveryOf(1));
    const stopped = (await turns).stop();
    await Promise.resolve();
    await vi.advanceTimersByTimeAsync(5000);
    expect(warnings).toMatchObject([{ fields: { dispatches: 1, sessions: ['demo'] } }]);
    finish(DONE);
    await stopped;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('work in turns that stops tells of nothing any more while it waits for what is in work', async () => {
    let finish = (_: WorkOutcome) => {};
    const { turns, deliver } = turnsOn(() => new Promise((resolve) => (finish = resolve)));
    const { stop } = await turns;
    const [inWork, waiting] = [deliveryOf(1), deliveryOf(2)];
    deliver(inWork);
    deliver(waiting);
    vi.advanceTimersByTime(10);
    expect(waiting.working).toHaveBeenCalledOnce();
    const stopped = stop();
    await vi.waitFor(() => expect(waiting.nak).toHaveBeenCalledOnce());
    const told = waiting.working.mock.calls.length;
    vi.advanceTimersByTime(100);
    expect(waiting.working).toHaveBeenCalledTimes(told);
    finish(DONE);
    await stopped;
    expect(vi.getTimerCount()).toBe(0);
    expect(inWork.ack).toHaveBeenCalledOnce();
  });

  it.each<[WorkOutcome, 'ack' | 'nak' | 'term', readonly unknown[]]>([
    [DONE, 'ack', []],
    [{ kind: 'retry', delayMs: 250 }, 'nak', [250]],
    [
      { kind: 'rejected', code: 'schema_invalid', reason: 'schema_invalid: status' },
      'term',
      ['schema_invalid: status'],
    ],
  ])('work in turns answers %j with %s, and nothing else', async (outcome, answer, args) => {
    const { turns, deliver } = turnsOn(async () => outcome);
    const { stop } = await turns;
    const { ack, nak, term, ...delivery } = deliveryOf(1);
    deliver({ ...delivery, ack, nak, term });
    await stop();
    const calls = { ack: ack.mock.calls, nak: nak.mock.calls, term: term.mock.calls };
    expect(calls).toEqual({ ack: [], nak: [], term: [], [answer]: [args] });
  });

  it('work in turns that has stopped puts back what arrives all the same', async () => {
    const work = vi.fn(async () => DONE);
    const { turns, deliver } = turnsOn(work);
    await (await turns).stop();
    const late = deliveryOf(1);
    deliver(late);
    expect(late.nak).toHaveBeenCalledOnce();
    expect(work).not.toHaveBeenCalled();
  });

  it('work in turns begins little in a turn while a caller waits for something else, and goes on all the same', async () => {
    const begun = async (isAwaited: boolean) => {
      const work = vi.fn(async () => DONE);
      const { turns, deliver } = turnsOn(work, { maxActive: 400, isAwaited: () => isAwaited });
      const { stop } = await turns;
      for (let sequence = 1; sequence <= 100; sequence += 1) deliver(deliveryOf(sequence));
      const inOneTurn = work.mock.calls.length;
      await vi.waitFor(() => expect(work).toHaveBeenCalledTimes(100));
      await stop();
      return inOneTurn;
    };
    expect(await begun(false)).toBe(100);
    expect(await begun(true)).toBe(8);
  });
});
