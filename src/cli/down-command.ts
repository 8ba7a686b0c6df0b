import { resolve } from 'node:path';
import type { Command } from 'commander';
import { cliOf, examples, out } from './command-context.js';
import { DEFAULT_STORE, storesFrom, usualStore } from './default-url.js';
import { isInUse, stopDetached } from './detached-up.js';

/** Beside the time that `up` gives itself: its server may take as long again. */
const PATIENCE_MS = 10_000;

export function downCommand(program: Command): void {
  program
    .command('down')
    .description(
      'Ends the services and the NATS server that "throughline up" has started on a store, wherever it runs. What is stored\n' +
        'stays, and the next "throughline up" has it again. Where nothing runs, it says so and is done.',
    )
    .option(
      '--store <dir>',
      `the store of that server (default: ${DEFAULT_STORE}, of this folder or the nearest above)`,
    )
    .option('--json', 'print {stopped, url?, store} as JSON')
    .addHelpText('after', examples('throughline down', 'throughline down --store /var/lib/throughline'))
    .action(async (options: { store?: string; json?: boolean }, command: Command) => {
      const { config } = cliOf(command);
      const store = options.store === undefined ? await usedStore() : resolve(options.store);
      const url = await stopDetached(store, config.shutdownMs + PATIENCE_MS);
      const stopped = url !== undefined;
      if (options.json) return out(JSON.stringify({ stopped, ...(stopped && { url }), store }));
      out(stopped ? `throughline stopped ${url} store ${store}` : `nothing runs on the store ${store}`);
    });
}

/** The nearest store on which something runs, else the one on which `up` would. */
async function usedStore(): Promise<string> {
  const here = process.cwd();
  for (const store of storesFrom(here)) if (await isInUse(store)) return store;
  return usualStore(here);
}
