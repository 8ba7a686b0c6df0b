import './globals.js';
import { resolve } from 'node:path';
import { type Config, embeddedConfig, stateDirOf } from './config/config.js';
import type { VariableName } from './config/settings.js';
import { addressOf, serverInUse } from './config/user-server.js';
import { checkOptions, ThroughlineError } from './contracts/errors.js';
import type { ServiceName } from './contracts/names.js';
import { type Logger, silentLogger } from './engine/ports/logger-and-clock.js';
import { Shutdown } from './engine/runtime/shutdown.js';
import type { RunningServer } from './nats/server/server-process.js';
import { urlWithToken } from './nats/server/team-members.js';
import { SERVICES, serve } from './services/serve.js';

/** `throughline/server`: the services inside your own process, as `throughline up` and `serve` run them. */

export type { Logger } from './engine/ports/logger-and-clock.js';
export { SERVICES, type ServiceName, type VariableName };

/** Services to start, and their server and settings. */
export interface ServerOptions {
  /**
   * The server to use, `nats://host:port`, several separated by commas. Default: the
   * server of `throughline team join`, else your own one, which `throughline up` starts.
   */
  readonly url?: string;
  /** Starts a nats-server instead; it is found, or installed, as `throughline up` does. */
  readonly server?: {
    /** Data directory; created if missing, never removed. */
    readonly store: string;
    /** Port on 127.0.0.1. Default: a free one. */
    readonly port?: number;
  };
  /** Services to start. Default: all. */
  readonly services?: readonly ServiceName[];
  /** The configuration, by the names of its variables. The variables of the process are not read. */
  readonly settings?: Readonly<Partial<Record<VariableName, string>>>;
  /** Receives the log of the services, for example a pino logger. Default: nothing is logged. */
  readonly logger?: Logger;
}

/** Services that run in this process. */
export interface RunningThroughline extends AsyncDisposable {
  /** The URL for clients. */
  readonly url: string;
  /**
   * Finishes work in progress, then stops services, connection and server, within `shutdownMs` of `THROUGHLINE_TUNING`.
   */
  close(): Promise<void>;
}

const OPTIONS: Readonly<Record<keyof ServerOptions, true>> = {
  url: true,
  server: true,
  services: true,
  settings: true,
  logger: true,
};

/**
 * Starts services, and optionally a server. Once it resolves, requests are answered; if it rejects, nothing is left
 * running.
 *
 * @throws ThroughlineError `config_invalid` for a wrong setting, `server_missing` if no nats-server is found,
 * `unavailable` if no server answers
 */
export async function startThroughline(options: ServerOptions = {}): Promise<RunningThroughline> {
  checkOptions(options, OPTIONS, 'startThroughline');
  const { server, services = SERVICES, logger = silentLogger } = options;
  const config = embeddedConfig(options.settings ?? {});
  const given = options.url ?? config.natsUrl;
  if (server !== undefined && given !== undefined) {
    throw new ThroughlineError('config_invalid', 'url and server are both given: use one of them');
  }
  const shutdown = new Shutdown();
  const close = () => shutdown.release(config.shutdownMs);
  try {
    const started = server === undefined ? undefined : await startServer(server, config, logger, shutdown);
    const address =
      started === undefined
        ? addressOf(serverInUse(stateDirOf(config.env), { natsUrl: given, directory: process.cwd() }))
        : { store: started.storeDir };
    await serve(address, { config, logger, shutdown }, services);
    started?.announce(null);
    const url =
      typeof address === 'string' ? address : 'store' in address ? urlWithToken(address.store) : address.url;
    return { url, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    // The original error matters.
    await close().catch(() => {});
    throw error;
  }
}

async function startServer(
  { store, port }: NonNullable<ServerOptions['server']>,
  { env, cacheDir }: Config,
  logger: Logger,
  shutdown: Shutdown,
): Promise<RunningServer> {
  const [{ findNatsServer }, { startNatsServer }] = await Promise.all([
    import('./nats/server/find-server.js'),
    import('./nats/server/server-process.js'),
  ]);
  const { platform, arch } = process;
  const progress = (line: string) => logger.info({}, line);
  const source = await findNatsServer({ env, cacheDir, platform, arch, progress });
  const log = (line: string) => logger.debug?.({}, line);
  const running = await startNatsServer({ source, storeDir: resolve(store), port, log });
  let stopping = false;
  shutdown.add('the NATS server', async () => {
    stopping = true;
    await running.stop();
  });
  void running.exited.then(({ code, signal }) => {
    if (!stopping) {
      const how = signal ?? `exit ${code}`;
      logger.error({ code: 'unavailable' }, `the NATS server ended (${how}): see ${running.logFile}`);
    }
  });
  return running;
}
