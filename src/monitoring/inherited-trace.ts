import { readTraceContext } from '../contracts/trace-context.js';
import { noTracing, type RunningSpan, type Spans, type Tracing } from '../ports/tracing.js';

const UNRECORDED: RunningSpan = { set() {}, failed() {} };

/**
 * The trace that the program began which called this process, by the variables `TRACEPARENT` and `TRACESTATE`: what is
 * sent carries it. No spans are made, and nothing is loaded for it.
 */
export function inheritedTrace(env: Readonly<Record<string, string | undefined>>): Tracing {
  const from = readTraceContext((name) => env[name.toUpperCase()]);
  if (from === undefined) return noTracing;
  const spans: Spans = { run: (_, work) => work(UNRECORDED), context: () => from };
  return () => spans;
}
