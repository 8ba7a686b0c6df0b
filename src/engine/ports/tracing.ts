import type { TraceContext } from '../../contracts/trace-context.js';

/**
 * Returns the span recorder, or `undefined` while nothing records. Called before each piece of work.
 *
 * An implementer must not change the work's result or error, and must record an error only by its code.
 */
export type Tracing = () => Spans | undefined;

export interface Spans {
  /**
   * Runs work in a span that ends with it. A consumer or server continues `from` or starts a new trace; any other span is a
   * child of the active one.
   */
  run<T>(span: SpanStart, work: (span: RunningSpan) => Promise<T>): Promise<T>;
  /** Returns the context for outgoing messages; undefined outside of any span. */
  context(): TraceContext | undefined;
}

export interface SpanStart {
  /** `<operation> <destination>`, of low cardinality. */
  readonly name: string;
  readonly kind: 'producer' | 'consumer' | 'client' | 'server' | 'internal';
  readonly attributes: SpanAttributes;
  /** The session, and the destination that names it: recorded only if sessions are enabled. */
  readonly session?: string | undefined;
  readonly destination?: string;
  readonly from?: TraceContext | undefined;
}

/** Names and numbers from the code; never an agent's text. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface RunningSpan {
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed although the work does not throw. */
  failed(code: string): void;
}

export const noTracing: Tracing = () => undefined;
