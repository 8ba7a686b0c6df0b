import { createRequire } from 'node:module';
import type { Context, Span, SpanKind } from '@opentelemetry/api';
import { codeOf } from '../../contracts/errors.js';
import type { TraceContext } from '../../contracts/trace-context.js';
import { VERSION } from '../../version.js';
import type { RunningSpan, SpanStart, Spans, Tracing } from '../ports/clients.js';

type Api = typeof import('@opentelemetry/api');

/** Registry of the SDK, shared by every copy of `@opentelemetry/api` 1.x in the process. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

interface OtelOptions {
  /** Adds the session to spans. Default: false. */
  readonly sessions?: boolean;
}

/** Returns OpenTelemetry spans. Loads nothing until an SDK is registered; the API is in memory then. */
export function otelTracing({ sessions = false }: OtelOptions = {}): Tracing {
  let spans: Spans | undefined;
  return () => {
    if (!isRegistered()) return undefined;
    spans ??= new OtelSpans(createRequire(import.meta.url)('@opentelemetry/api'), sessions);
    return spans;
  };
}

function isRegistered(): boolean {
  const registry: unknown = Reflect.get(globalThis, REGISTRY);
  return (
    typeof registry === 'object' && registry !== null && 'trace' in registry && registry.trace !== undefined
  );
}

class OtelSpans implements Spans {
  readonly #api: Api;
  readonly #sessions: boolean;
  readonly #kinds: Readonly<Record<SpanStart['kind'], SpanKind>>;

  constructor(api: Api, sessions: boolean) {
    this.#api = api;
    this.#sessions = sessions;
    const { PRODUCER, CONSUMER, CLIENT, SERVER, INTERNAL } = api.SpanKind;
    this.#kinds = {
      producer: PRODUCER,
      consumer: CONSUMER,
      client: CLIENT,
      server: SERVER,
      internal: INTERNAL,
    };
  }

  run<T>(start: SpanStart, work: (span: RunningSpan) => Promise<T>): Promise<T> {
    const { context, trace } = this.#api;
    const parent = this.#parent(start);
    // Looked up each time: an SDK may be replaced, as in tests.
    const tracer = trace.getTracer('throughline', VERSION);
    const attributes = { ...start.attributes, ...(this.#sessions && named(start)) };
    const span = tracer.startSpan(start.name, { kind: this.#kinds[start.kind], attributes }, parent);
    return context.with(trace.setSpan(parent, span), () => this.#ended(span, work));
  }

  context(): TraceContext | undefined {
    const active = this.#api.trace.getActiveSpan()?.spanContext();
    if (active === undefined || !this.#api.isSpanContextValid(active)) return undefined;
    const flags = active.traceFlags.toString(16).padStart(2, '0');
    const traceparent = `00-${active.traceId}-${active.spanId}-${flags}`;
    const tracestate = active.traceState?.serialize();
    return tracestate ? { traceparent, tracestate } : { traceparent };
  }

  #parent({ kind, from }: SpanStart): Context {
    const { context, trace, createTraceState, ROOT_CONTEXT } = this.#api;
    // Socket callbacks run in whatever span was active when the connection was opened.
    const base = kind === 'consumer' || kind === 'server' ? ROOT_CONTEXT : context.active();
    if (from === undefined) return base;
    const [, traceId = '', spanId = '', flags = '00'] = from.traceparent.split('-');
    const traceState = from.tracestate === undefined ? undefined : createTraceState(from.tracestate);
    return trace.setSpanContext(base, {
      traceId,
      spanId,
      traceFlags: Number.parseInt(flags, 16) & this.#api.TraceFlags.SAMPLED,
      isRemote: true,
      ...(traceState && { traceState }),
    });
  }

  async #ended<T>(span: Span, work: (span: RunningSpan) => Promise<T>): Promise<T> {
    const failed = (code: string) => {
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
      span.setAttribute('error.type', code);
    };
    try {
      return await work({ set: (attributes) => void span.setAttributes(attributes), failed });
    } catch (error) {
      failed(codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }
}

function named({ session, destination }: SpanStart): Record<string, string> {
  return {
    ...(session !== undefined && { 'gen_ai.conversation.id': session }),
    ...(destination !== undefined && { 'messaging.destination.name': destination }),
  };
}
