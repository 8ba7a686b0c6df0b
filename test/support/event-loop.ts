import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * The longest that a piece of work may have held this process's event loop, in milliseconds, of several that are done one
 * after another: the longest delay there was, or the most processor time that this process took for one of them, whichever
 * is less. On a machine that others use as well, a delay is also one of theirs; processor time is that of all threads, and
 * of both sides of a request.
 */
export async function holding(...pieces: readonly (() => Promise<unknown>)[]): Promise<number> {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  // A delay is the time between two rounds of its timer: the first must have come before the work.
  await rounds();
  loop.reset();
  await rounds();
  let most = 0;
  try {
    for (const piece of [...pieces, rounds]) {
      const begun = process.cpuUsage();
      await piece();
      const { user, system } = process.cpuUsage(begun);
      most = Math.max(most, (user + system) / 1000);
    }
  } finally {
    loop.disable();
  }
  return Math.round(Math.min(loop.max / 1e6, most));
}

function rounds(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 4));
}
