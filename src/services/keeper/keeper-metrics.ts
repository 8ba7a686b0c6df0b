import { byLabel, type Collector } from '../../monitoring/metric-registry.js';
import type { SessionKeeper } from './session-keeper.js';

/** What a keeper has done. */
export function keeperMetrics({ counts }: Pick<SessionKeeper, 'counts'>): Collector {
  return () => ({
    throughline_sessions_kept_total: byLabel('what', {
      entry: counts.entries,
      snapshot: counts.snapshots,
      failed: counts.failed,
    }),
  });
}
