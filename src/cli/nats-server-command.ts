import type { Config } from '../config/config.js';
import { findNatsServer } from '../nats/server/find-server.js';
import type { NatsServerSource } from '../nats/server/server-search.js';
import type { Command } from './cli-command.js';
import { cliOf, note, out } from './command-context.js';

export function natsServerCommand(program: Command): void {
  program
    .command('nats-server')
    .description('Looks in this order: NATS_SERVER_BIN, PATH, the cache, the release archive, go install.')
    .option('--json', 'print where it was found as well')
    .examples('throughline admin nats-server', 'throughline admin nats-server --json')
    .action(async (options: { json?: boolean }, command: Command) => {
      const { config } = cliOf(command);
      const source = await serverToStart(config);
      if (options.json) return out(JSON.stringify(source));
      out(source.path);
    });
}

/** The server that `up` starts; what is tried and installed on the way is said on standard error. */
export function serverToStart({ env, cacheDir }: Config): Promise<NatsServerSource> {
  const { platform, arch } = process;
  return findNatsServer({ env, cacheDir, platform, arch, progress: note });
}
