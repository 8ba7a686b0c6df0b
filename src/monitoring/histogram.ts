import type { Distribution } from './metric-table.js';

/** Upper bounds in seconds: from a warm compile to one that waits for its dispatch. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Durations in buckets. */
export class Durations implements Distribution {
  readonly bounds = SECONDS;
  readonly counts = new Float64Array(SECONDS.length + 1);
  sum = 0;

  observe(ms: number): void {
    const seconds = ms / 1000;
    let bucket = 0;
    while (bucket < SECONDS.length && seconds > (SECONDS[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += seconds;
  }
}
