import { EXTRACTOR_CONSUMER, SERVICE_NAMES } from '../../contracts/names.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import { byLabel, type Collector } from '../../engine/monitoring/monitoring.js';
import { scannerFor } from '../../memory/redaction/secret-scanner.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { Serving } from '../common/service-context.js';
import { backlogMetrics } from '../common/service-metrics.js';
import { serveRequests } from '../common/service-shell.js';
import type { ReviewHarvest } from '../learnings/harvesters.js';
import { type Extractor, startExtractor } from './extractor-worker.js';

export async function serveExtractor(
  nats: NatsPorts,
  serving: Serving,
  isAwaited: () => boolean,
  reader: SessionReader,
  harvest: ReviewHarvest,
): Promise<void> {
  const { config, logger, shutdown, lifecycle, traceSessions, monitoring } = serving;
  const { maxBodyBytes, maxDeliveries, maxInHand, ackWaitMs } = config;
  const extractor = await startExtractor(
    { ...nats, logger, lifecycle, reader },
    {
      ...{ maxBodyBytes, maxDeliveries, maxInHand, ackWaitMs, random: Math.random, traceSessions },
      secrets: scannerFor(config),
      isAwaited,
      harvest,
    },
  );
  shutdown.add('the extractor', () => extractor.stop());
  monitoring.metrics.add(extractorMetrics(extractor));
  monitoring.metrics.add(backlogMetrics(EXTRACTOR_CONSUMER, () => nats.source.backlog()));
  const numbers = async () => ({
    ...extractor.stats,
    inHand: extractor.inHand(),
    setAside: extractor.setAside(),
    backlog: await nats.source.backlog(),
  });
  await serveRequests(nats.connection, serving, {
    name: SERVICE_NAMES.extractor,
    description: 'Turns dispatches into facts',
    numbers,
  });
}

function extractorMetrics({ stats, inHand, setAside }: Extractor): Collector {
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
