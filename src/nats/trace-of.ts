import type { MsgHdrs } from 'nats';
import { readTraceContext, type TraceContext } from '../contracts/trace-context.js';

/** Returns the trace context in a message's headers, if any. */
export function traceOf(headers: MsgHdrs | undefined): TraceContext | undefined {
  return headers && readTraceContext((name) => headers.get(name) || undefined);
}
