import { resolve } from 'node:path';
import type { Command } from 'commander';
import { stateDirOf } from '../config/config.js';
import { userStore } from '../config/user-server.js';
import { cliOf, examples, out } from './command-context.js';
import { stopDetached } from './detached-up.js';

/** Beside the time that `up` gives itself: its server may take as long again. */
const PATIENCE_MS = 10_000;

export function downCommand(program: Command): void {
  program
    .command('down')
    .description(
      'Ends the services and the NATS server that "throughline up" has started, wherever it runs. What is stored\n' +
        'stays, and the next "throughline up" has it again. Where nothing runs, it says so and is done.',
    )
    .option('--store <dir>', 'the store of that server (default: the one in your state directory)')
    .option('--json', 'print {stopped, url?, store} as JSON')
    .addHelpText('after', examples('throughline down', 'throughline down --store /var/lib/throughline'))
    .action(async (options: { store?: string; json?: boolean }, command: Command) => {
      const { config } = cliOf(command);
      const store = resolve(options.store ?? userStore(stateDirOf(config.env)));
      const url = await stopDetached(store, config.shutdownMs + PATIENCE_MS);
      const stopped = url !== undefined;
      if (options.json) return out(JSON.stringify({ stopped, ...(stopped && { url }), store }));
      out(stopped ? `throughline stopped ${url} store ${store}` : `nothing runs on the store ${store}`);
    });
}
