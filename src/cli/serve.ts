import { type Command, Option } from 'commander';
import { growHeapSlowly } from '../heap.js';
import { Releasers } from '../lifecycle.js';
import { SERVICES, type ServiceName, serve } from '../main.js';
import { withoutSecrets } from '../nats/shown-url.js';
import { cliOf, examples, out } from './cli.js';
import { withLogger } from './logger.js';
import { runUntilSignal } from './signals.js';

export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('Starts the services, or only some of them, on the server that NATS_URL or --nats names.')
    .addOption(
      new Option(
        '--only <service...>',
        'start only these; any number of processes may run the same one',
      ).choices(SERVICES),
    )
    .addHelpText(
      'after',
      examples('NATS_URL=nats://10.0.0.5:4222 throughline serve', 'throughline serve --only extractor'),
    )
    .action(async (options: { only?: ServiceName[] }, command: Command) => {
      growHeapSlowly();
      const cli = withLogger(cliOf(command));
      const releasers = new Releasers();
      const only = options.only ?? SERVICES;
      await runUntilSignal(cli, releasers, async () => {
        await serve(cli.url, { ...cli, releasers }, only);
        out(`throughline ready ${withoutSecrets(cli.url)} ${only.join(' ')}`);
      });
    });
}
