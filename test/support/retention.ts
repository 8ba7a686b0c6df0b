import { afterEach } from 'vitest';
import { Monitoring } from '../../src/engine/monitoring/monitoring.js';
import { type Logger, silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import type { SessionLifecycle } from '../../src/engine/ports/session-lifecycle.js';
import { Shutdown } from '../../src/engine/runtime/shutdown.js';
import { openNats } from '../../src/nats/open-nats.js';
import { knownSessions, openProjects, openSessions } from '../../src/services/common/process-parts.js';
import { natsOptions } from '../../src/services/common/service-context.js';
import { LifecycleKeeper, type LifecycleKeeperPorts } from '../../src/services/keeper/serve-keeper.js';
import { lifecyclePorts } from '../../src/services/lifecycle/archive-session.js';
import type { System } from './system.js';

export interface KeeperOptions {
  /** How far ahead of the server's its clock is as ages are counted, in milliseconds. */
  readonly ahead?: number;
  readonly logger?: Logger;
  /** What its ports do instead. */
  readonly changed?: (ports: LifecycleKeeperPorts) => Partial<LifecycleKeeperPorts>;
}

const started = new Set<Shutdown>();

/** Has the keepers of each test stopped after it. */
export function stopKeepersAfterEach(): void {
  afterEach(async () => {
    for (const shutdown of started) await shutdown.release(5000);
    started.clear();
  });
}

/** The part of a keeper that archives, forgets and follows the rules, as another process would have it. */
export async function retentionKeeper(
  system: Pick<System, 'url' | 'config'>,
  { ahead = 0, logger = silentLogger, changed = () => ({}) }: KeeperOptions = {},
): Promise<{ readonly keeper: LifecycleKeeper; readonly ports: LifecycleKeeperPorts }> {
  const { url, config } = system;
  const shutdown = new Shutdown();
  started.add(shutdown);
  let records: SessionLifecycle | undefined;
  const open = async () => {
    const nats = await openNats({
      ...natsOptions(url, 'throughline test keeper', config, silentLogger),
      lifecycle: {
        forgotten: (session) => records?.forgotten(session),
        refreshed: () => records?.refreshed(),
      },
    });
    shutdown.add('a connection', () => nats.close());
    return nats;
  };
  const [nats, own] = [await open(), await open()];
  const lifecycle = await nats.openLifecycle();
  records = lifecycle;
  shutdown.add('the records', async () => lifecycle.close());
  const sessions = openSessions(nats, config, silentLogger, lifecycle);
  shutdown.add('the snapshot writer', () => sessions.writer.stop());
  const known = await knownSessions(nats, own, { logger: silentLogger, shutdown, lifecycle });
  known.feed.start();
  const projects = openProjects(nats, {
    config,
    shutdown,
    logger: silentLogger,
    monitoring: new Monitoring(),
  });
  const opened = lifecyclePorts({ nats, sessions, projects, lifecycle, logger }, known);
  const usual: LifecycleKeeperPorts = { ...opened, now: () => opened.now() + ahead };
  const ports = { ...usual, ...changed(usual) };
  return { keeper: new LifecycleKeeper(ports), ports };
}
