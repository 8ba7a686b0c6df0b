import type { MsgHdrs } from 'nats';
import { readTraceContext, type TraceContext } from '../contracts/trace-context.js';

/** The span that a message was sent from, if its headers say so. */
export function traceOf(headers: MsgHdrs | undefined): TraceContext | undefined {
  return headers && readTraceContext((name) => headers.get(name) || undefined);
}
