import type { TraceContext } from '../../contracts/trace-context.js';

/**
 * Where spans go. Asked before each piece of work; `undefined` while nothing records: then the work is done as if there
 * were no tracing.
 *
 * An implementer must not change what the work gives or throws, and must keep texts out: an error by its code alone.
 */
export type Tracing = () => Spans | undefined;

export interface Spans {
  /**
   * Does work in a span, which ends with it. What is sent meanwhile carries the span.
   *
   * A consumer or a server continues `from` or begins a trace of its own; any other span goes on in the one that is
   * active.
   */
  run<T>(span: SpanStart, work: (span: RunningSpan) => Promise<T>): Promise<T>;
  /** What a message that is sent now is to carry; undefined outside of any span. */
  context(): TraceContext | undefined;
}

export interface SpanStart {
  /** `<operation> <destination>`, of few different values. */
  readonly name: string;
  readonly kind: 'producer' | 'consumer' | 'client' | 'server' | 'internal';
  readonly attributes: SpanAttributes;
  /** The span's session, and the destination that names it: shown only where that is wanted. */
  readonly session?: string | undefined;
  readonly destination?: string;
  readonly from?: TraceContext | undefined;
}

/** Names and numbers that the code knows; never a text of an agent. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface RunningSpan {
  set(attributes: SpanAttributes): void;
  /** It failed, although the work throws nothing. */
  failed(code: string): void;
}

export const noTracing: Tracing = () => undefined;
