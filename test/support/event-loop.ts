import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * The longest that some work may have held this process's event loop, in milliseconds: the longest delay there was, or
 * the processor time of this process, whichever is less. On a machine that others use as well, a delay is also one of
 * theirs; processor time is that of all threads, and of both sides of a request.
 */
export async function holding(work: () => Promise<unknown>): Promise<number> {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  // A delay is the time between two rounds of its timer: the first must have come before the work.
  await rounds();
  loop.reset();
  await rounds();
  const begun = process.cpuUsage();
  try {
    await work();
    await rounds();
  } finally {
    loop.disable();
  }
  const { user, system } = process.cpuUsage(begun);
  return Math.round(Math.min(loop.max / 1e6, (user + system) / 1000));
}

function rounds(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 4));
}
