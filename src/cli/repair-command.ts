import type { Command } from 'commander';
import { cliOf, examples, out, withNats } from './command-context.js';

export function repairCommand(program: Command): void {
  program
    .command('repair')
    .description(
      'Where DISPATCH was restored behind what sessions have seen, or the stream of a session behind its snapshot, moves\n' +
        'their numbers up, and publishes results again that have numbers which were used before. Removes nothing else.\n' +
        'Run it again if it is interrupted. Needs the rights of an administrator of the account.',
    )
    .option('--json', 'print {"repaired":[…]}, a text for each stream')
    .addHelpText('after', examples('throughline repair', 'throughline doctor && throughline repair --json'))
    .action(async (options: { json?: boolean }, command: Command) => {
      const repaired = await withNats(cliOf(command), (nats) => nats.repair());
      if (options.json) return out(JSON.stringify({ repaired }));
      for (const line of repaired) out(line);
      if (repaired.length === 0) out('nothing to repair');
    });
}
