import { describe, expect, it } from 'vitest';
import { readTraceContext, traceHeaders } from '../../src/contracts/trace-context.js';
import { attacks } from '../support/attacks.js';
import * as fc from '../support/properties.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const read = (headers: Readonly<Record<string, string>>) => readTraceContext((name) => headers[name]);

describe('the trace context', () => {
  it('the trace context is read from its headers, and written to them', () => {
    const context = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'vendor=1' };
    expect(read(traceHeaders(context))).toEqual(context);
    expect(read({ traceparent: `01-${TRACE}-${SPAN}-00-more` })).toEqual({
      traceparent: `01-${TRACE}-${SPAN}-00-more`,
    });
  });

  it.each([
    ['nothing', {}],
    ['no parent', { tracestate: 'vendor=1' }],
    ['an empty parent', { traceparent: '' }],
    ['a trace of zeros', { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` }],
    ['a span of zeros', { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` }],
    ['a version that there never is', { traceparent: `ff-${TRACE}-${SPAN}-01` }],
    ['the first version with more behind it', { traceparent: `00-${TRACE}-${SPAN}-01-more` }],
    ['large letters', { traceparent: `00-${TRACE.toUpperCase()}-${SPAN}-01` }],
    ['more than there may be', { traceparent: `01-${TRACE}-${SPAN}-01-${'x'.repeat(500)}` }],
  ])('the trace context of %s is none', (_, headers: Record<string, string>) => {
    expect(read(headers)).toBeUndefined();
  });

  it('the trace context takes no text for a parent, and no state that is too long', () => {
    fc.assert(
      fc.property(attacks, (text) => {
        expect(read({ traceparent: text })).toBeUndefined();
        expect(read({ traceparent: `00-${TRACE}-${SPAN}-01 ${text}` })).toBeUndefined();
        const tracestate = text.padEnd(513, 'x');
        expect(read({ traceparent: `00-${TRACE}-${SPAN}-01`, tracestate })?.tracestate).toBeUndefined();
      }),
    );
  });
});
