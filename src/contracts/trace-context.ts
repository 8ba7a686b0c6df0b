/** The span that a message was sent from, as W3C Trace Context headers. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

export const TRACEPARENT = 'traceparent';
const TRACESTATE = 'tracestate';

/** Version, trace, span and flags; later versions may append more. */
const PARENT = /^([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]{0,400})?$/;
const MAX_STATE = 512;

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

export function traceHeaders({ traceparent, tracestate }: TraceContext): Record<string, string> {
  return { [TRACEPARENT]: traceparent, ...(tracestate !== undefined && { [TRACESTATE]: tracestate }) };
}
