import type { Config } from './config.js';
import { COMPILE_SUBJECT, COMPILER_SERVICE } from './contracts/names.js';
import type { Releasers } from './lifecycle.js';
import { type NatsPorts, openNats } from './nats/open.js';
import { startService } from './nats/service.js';
import { systemClock } from './ports/clock.js';
import type { Logger } from './ports/logger.js';
import { VERSION } from './version.js';
import { startExtractor } from './workers/extractor.js';
import { createPromptCompiler } from './workers/prompt-compiler.js';
import { SessionReader } from './workers/session-reader.js';
import { SnapshotWriter } from './workers/snapshot-writer.js';

/** The composition root: each service with the ports it needs, on one NATS connection. */

export const SERVICES = ['extractor', 'compiler'] as const;
export type ServiceName = (typeof SERVICES)[number];

export interface Context {
  readonly config: Config;
  readonly logger: Logger;
  readonly releasers: Releasers;
}

/** Connects to NATS and starts the services; `releasers` stops them again. */
export async function serve(
  url: string,
  { config, logger, releasers }: Context,
  only: readonly ServiceName[] = SERVICES,
): Promise<NatsPorts> {
  const nats = await openNats(natsOptions(url, `throughline ${only.join('+')}`, config, logger));
  releasers.add('the NATS connection', () => nats.close());
  if (only.includes('extractor')) await serveExtractor(nats, { config, logger, releasers });
  if (only.includes('compiler')) await serveCompiler(nats, { config, logger, releasers });
  return nats;
}

/** How this configuration connects. */
export function natsOptions(url: string, name: string, config: Config, logger: Logger) {
  const { replicas, requestTimeoutMs, ackWaitMs, maxInHand } = config;
  const maxAckPending = Math.max(20_000, maxInHand * 2);
  return { url, name, logger, replicas, requestTimeoutMs, ackWaitMs, maxInHand, maxAckPending };
}

/** A reader of sessions, together with the writer of their snapshots. */
export function sessionReader(nats: NatsPorts, config: Config, logger: Logger) {
  const writer = new SnapshotWriter({
    snapshots: nats.snapshots,
    clock: systemClock,
    logger,
    every: config.snapshotEvery,
  });
  const reader = new SessionReader({
    log: nats.log,
    snapshots: nats.snapshots,
    limits: { maxFacts: config.maxFacts },
    logger,
    maxSessions: config.maxSessions,
    onFolded: (folded) => writer.folded(folded),
  });
  return { reader, writer };
}

async function serveExtractor(nats: NatsPorts, { config, logger, releasers }: Context): Promise<void> {
  const extractor = await startExtractor(
    { source: nats.source, log: nats.log, rejected: nats.rejected, logger },
    { maxBodyBytes: config.maxBodyBytes, maxDeliveries: config.maxDeliveries, random: Math.random },
  );
  releasers.add('the extractor', () => extractor.stop());
}

async function serveCompiler(nats: NatsPorts, { config, logger, releasers }: Context): Promise<void> {
  const { reader, writer } = sessionReader(nats, config, logger);
  releasers.add('the snapshot writer', () => writer.stop());
  const compile = createPromptCompiler({ reader, log: nats.log, afterTimeoutMs: config.afterTimeoutMs });
  const service = await startService(nats.connection, {
    name: COMPILER_SERVICE,
    version: VERSION,
    description: 'Compiles the next prompt from what a session remembers',
    logger,
    endpoints: [
      {
        name: 'compile',
        subject: COMPILE_SUBJECT,
        description: 'session, taskId, taskPrompt in; prompt out',
        handle: compile,
      },
    ],
  });
  releasers.add('the prompt compiler', () => service.stop());
}
