import { addressOf } from '../config/user-server.js';
import { growHeapSlowly, Shutdown } from '../engine/runtime/shutdown.js';
import { accessOptions, shownAddress } from '../nats/connection/nats-access.js';
import { SERVICES, serve } from '../services/serve.js';
import type { Command } from './cli-command.js';
import { withLogger } from './cli-logger.js';
import { type Cli, cliOf, out } from './command-context.js';
import {
  addInspectorOptions,
  type InspectorFlags,
  inspectorLine,
  startInspector,
} from './serving-options.js';
import { runUntilSignal } from './signals.js';

const SERVED = [...SERVICES, 'inspector'] as const;
type Served = (typeof SERVED)[number];

interface ServeOptions extends InspectorFlags {
  readonly only?: Served[];
  readonly check?: boolean;
}

export function serveCommand(program: Command): void {
  const command = program
    .command('serve')
    .description(
      'Starts the services, or only some of them, on the server that NATS_URL or --nats names. The inspector starts\n' +
        'only with one of its options or "--only inspector"; its URL is printed on a separate line.',
    )
    .choice('--only <service...>', 'start only these; any number of processes may run the same one', SERVED)
    .option('--check', 'only check the settings and the files they name; exit code 2 when one is wrong')
    .examples(
      'NATS_URL=nats://10.0.0.5:4222 throughline admin serve',
      'throughline admin serve --only extractor',
      'throughline admin serve --only inspector',
      'throughline admin serve --check',
    )
    .action(async (options: ServeOptions) => {
      const cli = withLogger(cliOf(command));
      if (options.check) {
        await checkSettings(cli);
        return out('the settings are valid');
      }
      growHeapSlowly();
      const shutdown = new Shutdown();
      const only = servedBy(options);
      const services = SERVICES.filter((service) => only.includes(service));
      await runUntilSignal(cli, shutdown, async () => {
        const context = { ...cli, shutdown };
        if (services.length > 0) await serve(addressOf(cli.server), context, services);
        const inspector = only.includes('inspector')
          ? await startInspector(addressOf(cli.server), context, options, 'reader')
          : undefined;
        out(`throughline ready ${shownAddress(addressOf(cli.server))} ${only.join(' ')}`);
        if (inspector !== undefined) out(inspectorLine(inspector));
      });
    });
  addInspectorOptions(command, 'none; 4280 or the next free one with "--only inspector"');
}

function servedBy(options: ServeOptions): readonly Served[] {
  const { only = SERVICES, inspectorPort, inspectorHost, inspectorName, inspectorRole } = options;
  const asks = inspectorPort ?? inspectorHost ?? inspectorName ?? inspectorRole;
  return asks === undefined || only.includes('inspector') ? only : [...only, 'inspector'];
}

/** Whatever a start reads because a setting names it, without a server. */
async function checkSettings({ config, server }: Cli): Promise<void> {
  // Only reads what the settings name: one's own server need not run for that.
  accessOptions(server.kind === 'own' ? 'nats://localhost' : addressOf(server), config.access);
}
