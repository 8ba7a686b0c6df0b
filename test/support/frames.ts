import type { Page } from 'playwright-core';

/** How smooth a page was, in milliseconds between frames. */
export interface Frames {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly longest: number;
}

/**
 * Measures the frames while a script runs in the page.
 *
 * @param script an expression that gives a promise
 */
export async function framesWhile(page: Page, script: string): Promise<Frames> {
  const times = await page.evaluate<number[]>(`(async () => {
    const times = [];
    let last = performance.now();
    let running = true;
    const next = (time) => {
      times.push(time - last);
      last = time;
      if (running) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    await (${script});
    running = false;
    return times;
  })()`);
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor((times.length - 1) * share)] ?? 0);
  return { count: times.length, p50: at(0.5), p95: at(0.95), longest: at(1) };
}

/** Memory of the page's script after a collection, in megabytes, and how many nodes the page has. */
export async function memoryOf(page: Page): Promise<{ readonly heapMb: number; readonly nodes: number }> {
  const session = await page.context().newCDPSession(page);
  try {
    await session.send('Performance.enable');
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
    return { heapMb: of('JSHeapUsedSize') / 1e6, nodes: of('Nodes') };
  } finally {
    await session.detach();
  }
}
