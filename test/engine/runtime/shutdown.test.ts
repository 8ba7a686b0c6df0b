import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Shutdown } from '../../../src/engine/runtime/shutdown.js';

const NEVER = new Promise<void>(() => {});

function work(): { busy: Promise<void>; finish: () => void } {
  let finish: () => void = () => {};
  const busy = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { busy, finish };
}

describe('Shutdown', () => {
  let shutdown: Shutdown;
  let stopped: string[];

  /** Adds a component that records its stop, after its dependencies. */
  function add(name: string, stop: () => Promise<void> = async () => {}): void {
    shutdown.add(name, async () => {
      await stop();
      stopped.push(name);
    });
  }

  beforeEach(() => {
    vi.useFakeTimers();
    shutdown = new Shutdown();
    stopped = [];
  });
  afterEach(() => {
    // No deadline timer remains to keep the process alive.
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('shutdown stops what was started last first, one after the other', async () => {
    const { busy, finish } = work();
    add('connection');
    add('worker', () => busy);
    add('server');
    const released = shutdown.release(1000);
    await vi.advanceTimersByTimeAsync(10);
    expect(stopped).toEqual(['server']);
    finish();
    await released;
    expect(stopped).toEqual(['server', 'worker', 'connection']);
  });

  it('shutdown stops each part once: a second call waits for the first', async () => {
    const { busy, finish } = work();
    add('connection', () => busy);
    const first = shutdown.release(1000);
    const second = shutdown.release(5).then(() => [...stopped]);
    await vi.advanceTimersByTimeAsync(10);
    finish();
    expect(await second).toEqual(['connection']);
    await Promise.all([first, shutdown.release(1000)]);
    expect(stopped).toEqual(['connection']);
  });

  it('shutdown stops the other parts when one fails, and names it with its reason', async () => {
    const reason = new Error('socket is gone');
    add('connection');
    add('worker', () => Promise.reject(reason));
    shutdown.add('server', () => {
      throw new Error('at once');
    });
    add('timer');
    await expect(shutdown.release(1000)).rejects.toMatchObject({
      code: 'internal',
      message: 'could not be stopped properly: server, worker',
      cause: new Error('at once'),
    });
    expect(stopped).toEqual(['timer', 'connection']);
  });

  it('shutdown gives up at the deadline on what does not end, and still turns to the others', async () => {
    add('connection');
    add('worker', () => NEVER);
    const released = expect(shutdown.release(500)).rejects.toMatchObject({
      message: 'could not be stopped properly: worker',
      cause: expect.objectContaining({ message: 'timed out after 500 ms' }),
    });
    await vi.advanceTimersByTimeAsync(499);
    expect(stopped).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await released;
    expect(stopped).toEqual(['connection']);
  });
});
