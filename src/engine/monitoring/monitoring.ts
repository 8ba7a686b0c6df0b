import { ERROR_CODES } from '../../contracts/error-codes.js';
import { ROLES } from '../../contracts/kinds.js';
import { EXTRACTOR_CONSUMER, SERVICE_NAMES } from '../../contracts/names.js';
import { REPAIRS } from '../../contracts/reading/repairs.js';
import { LATE, withinDeadline } from '../../shared/deadlines.js';
import { VERSION } from '../../version.js';

/** A response to a GET request, independent of the server. */
export interface MonitoringPage {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/**
 * A metric that a process can expose; `docs/how-to/run-in-production.md` is generated from this table. Labels never hold an agent's
 * text: a value that is not listed becomes `other`, and `own` labels hold names from the code.
 */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
}

export type LabelValues = readonly string[] | 'own';

const CODES = Object.keys(ERROR_CODES);
const KINDS = ['dispatch', 'iteration', 'session-start'] as const;
export const COMPILE_STAGES = ['wait', 'load', 'progress', 'learnings', 'render', 'total'] as const;
export type CompileStage = (typeof COMPILE_STAGES)[number];
const FOLDED = ['session', 'project'] as const;
const CONSUMERS = [EXTRACTOR_CONSUMER] as const;
const SERVICES = Object.values(SERVICE_NAMES);

function metric<const Type extends Metric['type'], const Of extends Metric['labels'] = Record<never, never>>(
  type: Type,
  help: string,
  labels?: Of,
) {
  return { type, help, labels: labels ?? ({} as Of) };
}

export const METRICS = {
  throughline_results_total: metric('counter', 'Results that were recorded as events', { role: ROLES }),
  throughline_rejections_total: metric('counter', 'Results that were rejected', { code: CODES }),
  throughline_repairs_total: metric('counter', 'Repairs of results that were read', {
    kind: Object.keys(REPAIRS),
  }),
  throughline_redactions_total: metric('counter', 'Secrets that were taken out of results'),
  throughline_retries_total: metric('counter', 'Attempts at a result that failed and come again'),
  throughline_dispatches_pending: metric('gauge', 'Lag: results that wait to be delivered to a consumer', {
    consumer: CONSUMERS,
  }),
  throughline_dispatches_unacknowledged: metric(
    'gauge',
    'Results that were delivered to a consumer and are not yet acknowledged',
    { consumer: CONSUMERS },
  ),
  throughline_dispatches_in_hand: metric('gauge', 'Results in the hands of the extractor of this process'),
  throughline_dispatches_set_aside: metric(
    'gauge',
    'Results that wait because the log of their session rejects writes',
  ),
  throughline_sessions_set_aside: metric('gauge', 'Sessions whose logs reject writes'),
  throughline_compile_duration_seconds: metric('histogram', 'Time to compile a prompt, by stage', {
    kind: KINDS,
    stage: COMPILE_STAGES,
  }),
  throughline_prompts_kept_total: metric('counter', 'Compiled prompts that were kept to be looked at later'),
  throughline_prompts_dropped_total: metric(
    'counter',
    'Traces of prompts that were dropped: too many at once, or the store rejects them',
  ),
  throughline_requests_total: metric('counter', 'Requests that a service was sent', {
    service: SERVICES,
    subject: 'own',
  }),
  throughline_request_errors_total: metric('counter', 'Requests that a service answered with an error', {
    service: SERVICES,
    code: CODES,
  }),
  throughline_cache_hits_total: metric('counter', 'Loads of a state that was in memory', { of: FOLDED }),
  throughline_cache_misses_total: metric('counter', 'Loads of a state that was not in memory', {
    of: FOLDED,
  }),
  throughline_cache_entries: metric('gauge', 'States in memory', { of: FOLDED }),
  throughline_cache_bytes: metric('gauge', 'Memory that these states take, about', { of: FOLDED }),
  throughline_events_folded_total: metric('counter', 'Events that were read and folded', { of: FOLDED }),
  throughline_snapshots_written_total: metric('counter', 'Snapshots that were written', { of: FOLDED }),
  throughline_snapshots_failed_total: metric('counter', 'Snapshots that could not be written', {
    of: FOLDED,
  }),
  throughline_sessions_kept_total: metric(
    'counter',
    'Entries and snapshots that the keeper wrote or failed to write',
    { what: ['entry', 'snapshot', 'failed'] },
  ),
  throughline_log_messages_total: metric('counter', 'Warnings and errors in the log', {
    level: ['warn', 'error'],
  }),
  throughline_nats_connected: metric('gauge', '1 while the process is connected to NATS, else 0'),
  throughline_nats_disconnects_total: metric('counter', 'Connections to NATS that were lost'),
  throughline_ready: metric('gauge', '1 while the part of the process is ready, else 0', { part: 'own' }),
  throughline_scrape_failures_total: metric('counter', 'Parts of a scrape that failed or timed out'),
  throughline_build_info: metric('gauge', 'Always 1: the labels say what runs', {
    version: 'own',
    node: 'own',
  }),
  throughline_process_start_time_seconds: metric('gauge', 'When the process started, in Unix time'),
} as const satisfies Readonly<Record<string, Metric>>;

type MetricName = keyof typeof METRICS;
type LabelOf<Name extends MetricName> = keyof (typeof METRICS)[Name]['labels'] & string;

type Sample<Name extends MetricName> = readonly [
  labels: { readonly [Label in LabelOf<Name>]: string },
  value: (typeof METRICS)[Name]['type'] extends 'histogram' ? Distribution : number,
];

export interface Distribution {
  /** Ascending upper bounds; the last bucket has none. */
  readonly bounds: readonly number[];
  /** Observations per bucket (not cumulative), one more than there are bounds. */
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

export type Collected = { readonly [Name in MetricName]?: readonly Sample<Name>[] };

export class Monitoring {
  readonly metrics = new MetricRegistry();
  readonly #parts = new Map<string, () => boolean>();

  constructor() {
    this.metrics.add(() => ({
      throughline_ready: [...this.#parts].map(([part, isReady]) => [{ part }, isReady() ? 1 : 0]),
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

/** The metrics of a process, read from its parts at a scrape; samples with the same labels are added up. */
export type Collector = () => Collected | Promise<Collected>;

/** Deadline of one part: Prometheus times out after ten seconds, and must get the other parts. */
const PATIENCE_MS = 2000;

const OTHER = 'other';
const OWN_NAME = /^[A-Za-z0-9][A-Za-z0-9._/+-]{0,79}$/;

type Value = number | Distribution;
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

export function byLabel<const Label extends string>(
  label: Label,
  counts: Readonly<Partial<Record<string, number>>>,
): [{ readonly [Name in Label]: string }, number][] {
  return Object.entries(counts).map(([value, count = 0]) => [
    { [label]: value } as { readonly [Name in Label]: string },
    count,
  ]);
}

function labelText({ labels }: Metric, given: Readonly<Record<string, string>>): string {
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
