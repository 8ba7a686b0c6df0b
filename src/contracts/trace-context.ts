/**
 * The span that a message was sent from, as the W3C's Trace Context writes it: two headers, in NATS as in HTTP. Any
 * program may set and read them.
 */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

export const TRACEPARENT = 'traceparent';
const TRACESTATE = 'tracestate';

/** Version, trace, span and flags; a later version than the first may add more behind them. */
const PARENT = /^([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]{0,400})?$/;
const MAX_STATE = 512;

/** The trace context among headers; undefined where there is none that can be read. */
export function readTraceContext(
  header: (name: typeof TRACEPARENT | typeof TRACESTATE) => string | undefined,
): TraceContext | undefined {
  const traceparent = header(TRACEPARENT);
  const [, version, more] = PARENT.exec(traceparent ?? '') ?? [];
  if (!traceparent || version === undefined || version === 'ff') return undefined;
  if (version === '00' && more !== undefined) return undefined;
  const tracestate = header(TRACESTATE);
  return tracestate && tracestate.length <= MAX_STATE ? { traceparent, tracestate } : { traceparent };
}

/** The same as headers to send. */
export function traceHeaders({ traceparent, tracestate }: TraceContext): Record<string, string> {
  return { [TRACEPARENT]: traceparent, ...(tracestate !== undefined && { [TRACESTATE]: tracestate }) };
}
