import { byLabel, MetricRegistry } from './metric-registry.js';

/** Metrics and readiness of a process. */
export class Monitoring {
  readonly metrics = new MetricRegistry();
  readonly #parts = new Map<string, () => boolean>();

  constructor() {
    this.metrics.add(() => ({
      throughline_ready: byLabel('part', Object.fromEntries([...this.#parts].map(ready))),
    }));
  }

  /** Makes the process' readiness depend on this part. Default: not ready. */
  expect(part: string, isReady: () => boolean = () => false): void {
    this.#parts.set(part, isReady);
  }

  notReady(): string[] {
    return [...this.#parts].filter(([, isReady]) => !isReady()).map(([part]) => part);
  }
}

function ready([part, isReady]: [string, () => boolean]): [string, number] {
  return [part, isReady() ? 1 : 0];
}
