import { byLabel, MetricRegistry } from './metric-registry.js';

/** What a process shows to those who watch it: its metrics, and what it is still waiting for. */
export class Monitoring {
  readonly metrics = new MetricRegistry();
  readonly #parts = new Map<string, () => boolean>();

  constructor() {
    this.metrics.add(() => ({
      throughline_ready: byLabel('part', Object.fromEntries([...this.#parts].map(ready))),
    }));
  }

  /** The process is ready only when this part is. One that is expected and not there yet is not ready. */
  expect(part: string, isReady: () => boolean = () => false): void {
    this.#parts.set(part, isReady);
  }

  /** Parts that are not ready. */
  notReady(): string[] {
    return [...this.#parts].filter(([, isReady]) => !isReady()).map(([part]) => part);
  }
}

function ready([part, isReady]: [string, () => boolean]): [string, number] {
  return [part, isReady() ? 1 : 0];
}
