import { byLabel, type Collector } from '../../monitoring/metric-registry.js';
import type { Extractor } from './extractor-worker.js';

/** What an extractor has counted. */
export function extractorMetrics({ stats, inHand, setAside }: Extractor): Collector {
  return () => {
    const { recordedBy, rejectedFor, repaired, redacted, retried } = stats;
    const aside = setAside();
    return {
      throughline_results_total: byLabel('role', recordedBy),
      throughline_rejections_total: byLabel('code', rejectedFor),
      throughline_repairs_total: byLabel('kind', repaired),
      throughline_redactions_total: [[{}, Object.values(redacted).reduce((sum, count) => sum + count, 0)]],
      throughline_retries_total: [[{}, retried]],
      throughline_dispatches_in_hand: [[{}, inHand()]],
      throughline_dispatches_set_aside: [[{}, aside.dispatches]],
      throughline_sessions_set_aside: [[{}, aside.sessions]],
    };
  };
}
