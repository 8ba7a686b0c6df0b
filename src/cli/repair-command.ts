import type { Command } from 'commander';
import { START_HOLDERS } from '../nats/jetstream/list-streams.js';
import { cliOf, examples, note, out, withNats } from './command-context.js';

export function repairCommand(program: Command): void {
  program
    .command('repair')
    .description(
      'Where DISPATCH was restored behind what sessions have seen, or the stream of a session behind its snapshot, moves\n' +
        'their numbers up, and publishes results again that have numbers which were used before. Removes nothing else.\n' +
        'Streams of a cluster that have no leader are named and left out.\n' +
        'Run it again if it is interrupted. Needs the rights of an administrator of the account.',
    )
    .option('--json', 'print {"repaired":[…],"leftOut":[…]}, a text for each stream')
    .addHelpText('after', examples('throughline repair', 'throughline doctor && throughline repair --json'))
    .action(async (options: { json?: boolean }, command: Command) => {
      const { repaired, leftOut } = await withNats(cliOf(command), (nats) => nats.repair());
      if (options.json) return out(JSON.stringify({ repaired, leftOut }));
      for (const line of repaired) out(line);
      for (const line of leftOut) out(`left out: ${line}`);
      if (repaired.length === 0)
        out(leftOut.length === 0 ? 'nothing to repair' : 'nothing to repair elsewhere');
      if (leftOut.length > 0) note(`${START_HOLDERS}, then run "throughline repair" again`);
    });
}
