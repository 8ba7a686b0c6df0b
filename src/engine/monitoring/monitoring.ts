import { LATE, withinDeadline } from '../../shared/backoff.js';
import { VERSION } from '../../version.js';
import { type Collected, type Distribution, type LabelValues, METRICS, type Metric } from './metric-table.js';

/** Metrics and readiness of a process. */
export class Monitoring {
  readonly metrics = new MetricRegistry();
  readonly #parts = new Map<string, () => boolean>();

  constructor() {
    this.metrics.add(() => ({
      throughline_ready: byLabel('part', Object.fromEntries([...this.#parts].map(ready))),
      throughline_build_info: [[{ version: VERSION, node: process.versions.node }, 1]],
      throughline_process_start_time_seconds: [[{}, Math.round(performance.timeOrigin) / 1000]],
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

/**
 * The metrics of a process. The parts of the process count for themselves and are read at a scrape. Samples of several parts
 * with the same labels are added up.
 */
export type Collector = () => Collected | Promise<Collected>;

/** Deadline of one part: Prometheus times out after ten seconds, and must get the other parts. */
const PATIENCE_MS = 2000;

/** Replaces a label value that is not in the list. */
const OTHER = 'other';
const OWN_NAME = /^[A-Za-z0-9][A-Za-z0-9._/+-]{0,79}$/;

type Value = number | Distribution;
type Labels = Readonly<Record<string, string>>;

export class MetricRegistry {
  readonly #collectors: Collector[] = [];
  #failures = 0;

  add(collector: Collector): void {
    this.#collectors.push(collector);
  }

  /** Returns all metrics in Prometheus' text format, without the parts that fail or time out. */
  async text(): Promise<string> {
    const shown = new Map<string, Map<string, Value>>();
    const parts = await Promise.all(this.#collectors.map((collect) => this.#collected(collect)));
    const failures: Collected = { throughline_scrape_failures_total: [[{}, this.#failures]] };
    for (const part of [...parts, failures]) {
      for (const [name, samples] of Object.entries(part)) {
        const values = shown.get(name) ?? new Map<string, Value>();
        shown.set(name, values);
        for (const [labels, value] of samples) {
          const key = labelText(METRICS[name as keyof Collected], labels);
          values.set(key, sumOf(values.get(key), value));
        }
      }
    }
    const metrics: [string, Metric][] = Object.entries(METRICS);
    return metrics
      .flatMap(([name, metric]) => linesOf(name, metric, shown.get(name)))
      .join('\n')
      .concat('\n');
  }

  async #collected(collect: Collector): Promise<Collected> {
    try {
      const collected = await withinDeadline(PATIENCE_MS, Promise.resolve(collect()));
      if (collected !== LATE) return collected;
    } catch {
      // Counted below. Most often NATS does not answer, which the connection's metrics show.
    }
    this.#failures += 1;
    return {};
  }
}

/** Converts counts by the value of one label to samples. */
export function byLabel<const Label extends string>(
  label: Label,
  counts: Readonly<Partial<Record<string, number>>>,
): [{ readonly [Name in Label]: string }, number][] {
  return Object.entries(counts).map(([value, count = 0]) => [
    { [label]: value } as { readonly [Name in Label]: string },
    count,
  ]);
}

function labelText({ labels }: Metric, given: Labels): string {
  return Object.entries(labels)
    .map(([label, values]) => `${label}="${allowed(values, given[label] ?? '')}"`)
    .join(',');
}

function allowed(values: LabelValues, value: string): string {
  const may = values === 'own' ? OWN_NAME.test(value) : values.includes(value);
  return may ? value : OTHER;
}

function sumOf(one: Value | undefined, other: Value): Value {
  if (one === undefined) return other;
  if (typeof one === 'number' || typeof other === 'number') return Number(one) + Number(other);
  const counts = Array.from(one.counts, (count, bucket) => count + (other.counts[bucket] ?? 0));
  return { bounds: one.bounds, counts, sum: one.sum + other.sum };
}

function linesOf(
  name: string,
  { type, help }: Metric,
  values: ReadonlyMap<string, Value> | undefined,
): string[] {
  if (values === undefined || values.size === 0) return [];
  const samples = [...values].sort(([one], [other]) => (one < other ? -1 : 1));
  return [
    `# HELP ${name} ${help}.`,
    `# TYPE ${name} ${type}`,
    ...samples.flatMap(([labels, value]) =>
      typeof value === 'number' ? [`${name}${braced(labels)} ${value}`] : bucketLines(name, labels, value),
    ),
  ];
}

function bucketLines(name: string, labels: string, { bounds, counts, sum }: Distribution): string[] {
  let count = 0;
  const buckets = Array.from(counts, (bucketCount, bucket) => {
    count += bucketCount;
    const le = `le="${bounds[bucket] ?? '+Inf'}"`;
    return `${name}_bucket${braced(labels === '' ? le : `${labels},${le}`)} ${count}`;
  });
  return [...buckets, `${name}_sum${braced(labels)} ${sum}`, `${name}_count${braced(labels)} ${count}`];
}

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

/** Upper bounds in seconds: from a warm compile to one that waits for its dispatch. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

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
