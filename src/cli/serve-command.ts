import { type Command, Option } from 'commander';
import { loadEmbedder } from '../embedding/load-embedder.js';
import { accessOptions } from '../nats/connection/nats-access.js';
import { withoutSecrets } from '../nats/connection/shown-url.js';
import { growHeapSlowly } from '../runtime/heap.js';
import { Shutdown } from '../runtime/shutdown.js';
import { SERVICES, type ServiceName, serve } from '../services/serve.js';
import { withLogger } from './cli-logger.js';
import { type Cli, cliOf, examples, out } from './command-context.js';
import { addMonitoringOptions, type MonitoringOptions, startMonitoring } from './monitoring-options.js';
import { runUntilSignal } from './signals.js';

interface ServeOptions extends MonitoringOptions {
  readonly only?: ServiceName[];
  readonly check?: boolean;
}

export function serveCommand(program: Command): void {
  const command = program
    .command('serve')
    .description('Starts the services, or only some of them, on the server that NATS_URL or --nats names.')
    .addOption(
      new Option(
        '--only <service...>',
        'start only these; any number of processes may run the same one',
      ).choices(SERVICES),
    )
    .option('--check', 'only check the settings and the files they name; exit code 2 when one is wrong')
    .addHelpText(
      'after',
      examples(
        'NATS_URL=nats://10.0.0.5:4222 throughline serve',
        'throughline serve --only extractor',
        'throughline serve --metrics-port 9464 --otel',
        'throughline serve --check',
      ),
    )
    .action(async (options: ServeOptions) => {
      const cli = withLogger(cliOf(command));
      if (options.check) {
        await checkSettings(cli);
        return out('the settings are valid');
      }
      growHeapSlowly();
      const shutdown = new Shutdown();
      const only = options.only ?? SERVICES;
      await runUntilSignal(cli, shutdown, async () => {
        const watched = await startMonitoring(cli, options, shutdown);
        await serve(cli.url, { ...cli, ...watched, shutdown }, only);
        out(`throughline ready ${withoutSecrets(cli.url)} ${only.join(' ')}`);
      });
    });
  addMonitoringOptions(command);
}

/** Whatever a start reads because a setting names it, without a server. */
async function checkSettings({ config, url }: Cli): Promise<void> {
  accessOptions(url, config.access);
  await loadEmbedder(config.embedder);
}
