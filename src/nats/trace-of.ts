import type { MsgHdrs } from 'nats';
import { readTraceContext, type TraceContext } from '../contracts/trace-context.js';

export function traceOf(headers: MsgHdrs | undefined): TraceContext | undefined {
  return headers && readTraceContext((name) => headers.get(name) || undefined);
}
