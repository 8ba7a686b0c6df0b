import { takeSpan } from '../../monitoring/message-spans.js';
import type { Tracing } from '../../ports/tracing.js';
import type { Held } from './session-lane.js';
import type { WorkOutcome } from './session-turns.js';

type Work = (held: Held) => Promise<WorkOutcome>;

/** The same work, in a span of the trace that published the dispatch, where spans are recorded. */
export function inSpan(tracing: Tracing, work: Work): Work {
  return (held) => {
    const spans = tracing();
    if (spans === undefined) return work(held);
    const { subject, body, trace, delivery } = held.delivery;
    return spans.run(takeSpan('extract', subject, body.length, trace), async (span) => {
      if (delivery > 1) span.set({ 'throughline.delivery': delivery });
      const outcome = await work(held);
      const rejected = outcome.kind === 'unnoted' ? outcome.rejected : outcome;
      if (rejected.kind === 'rejected') span.failed(rejected.code);
      return outcome;
    });
  };
}
