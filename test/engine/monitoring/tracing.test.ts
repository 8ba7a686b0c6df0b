import { describe, expect, it } from 'vitest';
import { activeTrace, inheritedTrace, loadOtelSdk } from '../../../src/engine/monitoring/tracing.js';

it('--otel names the package that is not installed, and the command that installs it', async () => {
  const load = async () => {
    throw new Error("Cannot find package '@opentelemetry/sdk-node'");
  };
  await expect(loadOtelSdk(load)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringMatching(
      /^--otel needs .*with "npm install @opentelemetry\/sdk-node" \(Cannot find package/,
    ),
  });
});

it('a process without an SDK adds no trace to its messages', () => {
  expect(activeTrace()).toEqual({});
});

describe('the trace of the parent process', () => {
  const TRACEPARENT = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;

  it('is passed on with its state', () => {
    const both = { traceparent: TRACEPARENT, tracestate: 'vendor=1' };
    expect(inheritedTrace({ TRACEPARENT, TRACESTATE: 'vendor=1' })).toEqual(both);
  });

  it.each([{}, { TRACESTATE: 'vendor=1' }, { TRACEPARENT: `${TRACEPARENT}\r\nNats-Msg-Id: x` }])(
    'without a valid parent there is no trace: %j',
    (env) => expect(inheritedTrace(env)).toEqual({}),
  );

  it.each(['vendor=1\r\nNats-Msg-Id: x', 'x'.repeat(513)])('drops an invalid state: %j', (TRACESTATE) => {
    expect(inheritedTrace({ TRACEPARENT, TRACESTATE })).toEqual({ traceparent: TRACEPARENT });
  });
});
