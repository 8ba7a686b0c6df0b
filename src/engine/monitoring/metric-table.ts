import { ERROR_CODES, type ErrorCode } from '../../contracts/error-codes.js';
import { ROLES } from '../../contracts/kinds.js';
import { EXTRACTOR_CONSUMER, SERVICE_NAMES } from '../../contracts/names.js';
import { REPAIRS } from '../../contracts/reading/repairs.js';

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

const CODES = Object.keys(ERROR_CODES).filter((name): name is ErrorCode => name in ERROR_CODES);
const KINDS = ['dispatch', 'iteration', 'session-start'] as const;
/** Stages of a compile, in order; `total` is their sum. */
export const COMPILE_STAGES = ['wait', 'load', 'progress', 'learnings', 'render', 'total'] as const;
export type CompileStage = (typeof COMPILE_STAGES)[number];
const FOLDED = ['session', 'project'] as const;
const CONSUMERS = [EXTRACTOR_CONSUMER] as const;
const SERVICES = Object.values(SERVICE_NAMES);

type Labels = Readonly<Record<string, LabelValues>>;

function metric<const Type extends Metric['type'], const Of extends Labels = Record<never, never>>(
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

/** The samples of one part of a process. */
export type Collected = { readonly [Name in MetricName]?: readonly Sample<Name>[] };
