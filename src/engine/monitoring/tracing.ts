import { createRequire } from 'node:module';
import { codeOf, messageOf, ThroughlineError } from '../../contracts/errors.js';
import { LATE, withinDeadline } from '../../shared/deadlines.js';
import { VERSION } from '../../version.js';
import type { ClientTransport } from '../ports/client-transport.js';
import type { Logger } from '../ports/logger-and-clock.js';

/**
 * Records spans with OpenTelemetry: one decorator for what a client sends, one for what a service processes. Without an SDK in
 * the process nothing is loaded. A span name holds the template of a subject, never the name of a session.
 */
type Api = typeof import('@opentelemetry/api');
type Environment = Readonly<Record<string, string | undefined>>;

/** Registry of the SDK, shared by every copy of `@opentelemetry/api` 1.x in the process. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');
let loaded: Api | undefined;

function registeredApi(): Api | undefined {
  const registry: unknown = Reflect.get(globalThis, REGISTRY);
  if (typeof registry !== 'object' || registry === null || !('trace' in registry)) return undefined;
  loaded ??= createRequire(import.meta.url)('@opentelemetry/api');
  return loaded;
}

const KINDS = { publish: 'PRODUCER', request: 'CLIENT', extract: 'CONSUMER', answer: 'SERVER' } as const;

type Headers = { get(name: string): string } | undefined;

interface Traced {
  readonly subject: string;
  readonly received?: Headers;
  readonly traceSessions?: boolean | undefined;
}

/** Runs publishes and requests of a client in spans, as children of the active one. */
export function tracedTransport(transport: ClientTransport, traceSessions?: boolean): ClientTransport {
  return {
    ...transport,
    publish: (subject, ...rest) =>
      inSpan('publish', { subject, traceSessions }, () => transport.publish(subject, ...rest)),
    request: (subject, ...rest) =>
      inSpan('request', { subject, traceSessions }, () => transport.request(subject, ...rest)),
  };
}

/** Runs `work` on a message in a span. `failure` returns the error code of a result that stands for a failure. */
export async function inSpan<T>(
  operation: keyof typeof KINDS,
  { subject, received, traceSessions = false }: Traced,
  work: () => Promise<T>,
  failure?: (result: T) => string | undefined,
): Promise<T> {
  const api = registeredApi();
  if (api === undefined) return work();
  const { context, propagation, trace } = api;
  const getter = { get: (from: Headers, name: string) => from?.get(name) || undefined, keys: () => [] };
  const isSent = operation === 'publish' || operation === 'request';
  // A socket's callback runs in the span that was active when the connection was opened, which is not the parent.
  const parent = isSent ? context.active() : propagation.extract(api.ROOT_CONTEXT, received, getter);
  const { template, session } = addressOf(subject);
  const attributes = {
    'messaging.system': 'nats',
    'messaging.operation.name': operation,
    'messaging.operation.type': isSent ? 'send' : 'process',
    'messaging.destination.template': template,
    ...(traceSessions && session !== undefined && { 'gen_ai.conversation.id': session }),
  };
  const options = { kind: api.SpanKind[KINDS[operation]], attributes };
  const span = trace.getTracer('throughline', VERSION).startSpan(`${operation} ${template}`, options, parent);
  // Only the code: the text of an error may quote an agent.
  const failed = (code: string | undefined) => {
    if (code !== undefined)
      span.setStatus({ code: api.SpanStatusCode.ERROR }).setAttribute('error.type', code);
  };
  try {
    const result = await context.with(trace.setSpan(parent, span), work);
    failed(failure?.(result));
    return result;
  } catch (error) {
    failed(codeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

function addressOf(subject: string): { readonly template: string; readonly session?: string | undefined } {
  const [first, second, third] = subject.split('.');
  if (first === 'dispatch') return { template: 'dispatch.{session}.{role}', session: second };
  return { template: `${first}.${second}${third === undefined ? '' : '.{session}'}`, session: third };
}

export type TraceHeaders = Readonly<Record<string, string>>;

export function activeTrace(): TraceHeaders {
  const headers: Record<string, string> = {};
  const api = registeredApi();
  api?.propagation.inject(api.context.active(), headers, {
    set(to, name, value) {
      // Events are stored, and baggage may be confidential.
      if (name !== 'baggage') to[name] = value;
    },
  });
  return headers;
}

/** Returns the trace of the parent process, which some agents set for their commands. */
export function inheritedTrace({ TRACEPARENT = '', TRACESTATE = '' }: Environment): TraceHeaders {
  if (!/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(TRACEPARENT)) return {};
  const isState = /^[ -~]{1,512}$/.test(TRACESTATE);
  return { traceparent: TRACEPARENT, ...(isState && { tracestate: TRACESTATE }) };
}

/** Deadline of the last flush: an unreachable collector must not block the exit. */
const LAST_SPANS_MS = 2000;

/** Loads the SDK installed beside Throughline. Throws ThroughlineError `config_invalid` if it is missing. */
export async function loadOtelSdk(load = () => import('@opentelemetry/sdk-node')) {
  return load().catch((cause: unknown) => {
    const message = `--otel needs a package: install it beside throughline with "npm install @opentelemetry/sdk-node" (${messageOf(cause)})`;
    throw new ThroughlineError('config_invalid', message, { cause });
  });
}

/** Starts the SDK, which its own variables configure. Returns a function that sends the last spans and stops it. */
export async function startOtelSdk(env: Environment, logger: Logger): Promise<() => Promise<void>> {
  const { NodeSDK, resources } = await loadOtelSdk();
  const isNamed = env.OTEL_SERVICE_NAME || env.OTEL_RESOURCE_ATTRIBUTES?.includes('service.name=');
  // The default detectors send the command line, which may hold the password of a NATS URL.
  const resourceDetectors = [resources.envDetector, resources.hostDetector];
  const sdk = new NodeSDK({
    ...(!isNamed && { serviceName: 'throughline' }),
    ...(!env.OTEL_NODE_RESOURCE_DETECTORS && { resourceDetectors }),
    // Only spans are recorded: open no connections for metrics and logs.
    ...(!env.OTEL_METRICS_EXPORTER && { metricReaders: [] }),
    ...(!env.OTEL_LOGS_EXPORTER && { logRecordProcessors: [] }),
  });
  sdk.start();
  return async () => {
    const flushed = sdk.shutdown().catch((err: unknown) => ({ err }));
    const failed = await withinDeadline(LAST_SPANS_MS, flushed);
    if (failed === undefined) return;
    const fields = { code: 'unavailable', ...(failed !== LATE && failed) };
    logger.warn(fields, 'the last spans were not sent: does the collector answer?');
  };
}
