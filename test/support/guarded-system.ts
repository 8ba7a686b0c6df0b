import { type Config, loadConfig } from '../../src/config/config.js';
import { PER_SESSION, type SessionLayout } from '../../src/contracts/names.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { Shutdown } from '../../src/engine/runtime/shutdown.js';
import { connectThroughline } from '../../src/index.js';
import { type NatsPorts, openNats } from '../../src/nats/open-nats.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { natsOptions } from '../../src/services/common/service-context.js';
import { serve } from '../../src/services/serve.js';
import { cli } from './cli.js';
import { layoutEnv } from './layouts.js';
import { SOON_MS } from './soon.js';
import { type GuardedNats, startGuardedNats, type TestUser } from './users.js';

/** All services under the users of their roles, on a server that lets in those users alone. */
export interface GuardedSystem extends Pick<GuardedNats, 'url' | 'access' | 'env'>, AsyncDisposable {
  readonly config: Config;
  /** A client, and ports, that may do anything: for what a test looks at. */
  readonly client: ThroughlineClient;
  readonly ports: NatsPorts;
  /** Runs a command as a user. */
  as(user: string, ...args: string[]): ReturnType<typeof cli>;
}

/** @param users further users beside `services`, which the services run as, and `admin` */
export async function startGuardedSystem(
  users: readonly TestUser[],
  layout: SessionLayout = PER_SESSION,
): Promise<GuardedSystem> {
  const shutdown = new Shutdown();
  const guarded = await startGuardedNats([{ name: 'services', role: 'services' }, ...users]);
  shutdown.add('the server', async () => guarded[Symbol.asyncDispose]());
  const configOf = (user: string) =>
    loadConfig({ ...guarded.env(user), ...layoutEnv(layout), THROUGHLINE_TUNING: 'snapshotEvery=2' });
  const context = { config: configOf('services'), logger: silentLogger, shutdown };
  await serve(guarded.url, context, ['extractor', 'tools', 'learnings']);
  await serve(guarded.url, context, ['compiler']);
  const config = configOf('admin');
  const client = await connectThroughline({ url: guarded.url, ...guarded.access('admin') });
  shutdown.add('the client', () => client.close());
  const ports = await openNats(natsOptions(guarded.url, 'throughline test', config, silentLogger));
  shutdown.add('the ports', () => ports.close());
  return {
    url: guarded.url,
    access: guarded.access,
    env: guarded.env,
    config,
    client,
    ports,
    as: (user, ...args) => cli(args, { env: guarded.env(user) }),
    [Symbol.asyncDispose]: () => shutdown.release(SOON_MS),
  };
}
