import { describe, expect, it } from 'vitest';
import type { SpanStart, Spans } from '../../../src/engine/ports/clients.js';
import type { DispatchDelivery } from '../../../src/engine/ports/dispatch-source.js';
import { inSpan } from '../../../src/services/extractor/extractor-worker.js';
import type { WorkOutcome } from '../../../src/services/extractor/session-turns.js';

const TRACE = { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };

function held(more: Partial<DispatchDelivery> = {}) {
  const answers = { ack() {}, nak() {}, working() {}, term() {} };
  const delivery: DispatchDelivery = {
    ...{
      subject: 'dispatch.demo.reviewer',
      body: Buffer.from('{}'),
      sequence: 1,
      delivery: 1,
      isFirst: true,
    },
    ...{ at: '2026-01-01T00:00:00.000Z', trace: TRACE, ...answers, ...more },
  };
  return { session: 'demo', delivery, isNew: true, round: 0 };
}

/** Returns started spans with their attributes. */
function recording() {
  const started: (SpanStart & { set: object; code?: string })[] = [];
  const spans: Spans = {
    run(start, work) {
      const span: (typeof started)[number] = { ...start, set: {} };
      started.push(span);
      return work({
        set: (attributes) => Object.assign(span.set, attributes),
        failed: (code) => {
          span.code = code;
        },
      });
    },
    context: () => undefined,
  };
  return { started, tracing: () => spans };
}

const REJECTED = { kind: 'rejected', code: 'marker_missing', reason: 'marker_missing: "buy milk"' } as const;

describe('the span of an extraction', () => {
  it('an extraction without a recorder is the work itself', () => {
    const outcome = Promise.resolve<WorkOutcome>({ kind: 'done' });
    expect(
      inSpan(
        () => undefined,
        () => outcome,
      )(held()),
    ).toBe(outcome);
  });

  it('an extraction goes on in the trace of its result, and says when it was delivered again', async () => {
    const { started, tracing } = recording();
    const work = inSpan(tracing, async () => ({ kind: 'done' }));
    expect(await work(held())).toEqual({ kind: 'done' });
    await work(held({ delivery: 3 }));
    expect(started).toMatchObject([
      {
        kind: 'consumer',
        from: TRACE,
        session: 'demo',
        set: {},
        attributes: { 'throughline.role': 'reviewer' },
      },
      { set: { 'throughline.delivery': 3 } },
    ]);
    expect(started[0]).not.toHaveProperty('code');
  });

  it.each<WorkOutcome>([REJECTED, { kind: 'rejectedWithoutEvent', rejected: REJECTED }])(
    'an extraction that rejects its result fails by the code alone: $kind',
    async (outcome) => {
      const { started, tracing } = recording();
      expect(await inSpan(tracing, async () => outcome)(held())).toBe(outcome);
      expect(started).toMatchObject([{ code: 'marker_missing' }]);
      expect(JSON.stringify(started)).not.toContain('milk');
    },
  );
});
