import type { Page } from 'playwright-core';

/** What a page has done while a script ran in it: frames, and milliseconds of its main thread for each. */
export interface Work {
  readonly frames: number;
  readonly script: number;
  readonly style: number;
  readonly layout: number;
  /** All of it, painting as well. */
  readonly task: number;
}

/**
 * Measures the time of the processor that a page takes: other processes, which only let it wait, do not change it.
 *
 * @param script an expression that gives a promise of how many frames it took
 */
export async function workWhile(page: Page, script: string): Promise<Work> {
  const session = await page.context().newCDPSession(page);
  const seconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return new Map(metrics.map(({ name, value }) => [name, value]));
  };
  try {
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const before = await seconds();
    const frames = await page.evaluate<number>(script);
    const after = await seconds();
    const of = (name: string) => {
      const took = (after.get(name) ?? Number.NaN) - (before.get(name) ?? Number.NaN);
      return Math.round((took * 1e5) / frames) / 100;
    };
    const [scripted, style, layout] = [of('ScriptDuration'), of('RecalcStyleDuration'), of('LayoutDuration')];
    return { frames, script: scripted, style, layout, task: of('TaskDuration') };
  } finally {
    await session.detach();
  }
}
