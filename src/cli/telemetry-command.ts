import type { Command } from 'commander';
import { cliOf, examples, out, withClient } from './command-context.js';
import { onSession, sessionGiven } from './session-argument.js';

export function telemetryCommand(program: Command): void {
  onSession(program.command('telemetry'))
    .description(
      'Shows what prompt-compilers have counted for a session since it began, and what its log says of\n' +
        'results and progress.',
    )
    .option('--json', 'print it as JSON')
    .addHelpText('after', examples('throughline telemetry demo', 'throughline telemetry demo --json'))
    .action(async (_: string | undefined, options: { json?: boolean }, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const report = await withClient(cli, (client) => client.tools.telemetryShow({ session }));
      if (options.json) return out(JSON.stringify(report));
      for (const [key, value] of Object.entries(report)) {
        out(`${key.padEnd(16)}${typeof value === 'object' ? entries(value) : value}`);
      }
    });
}

function entries(value: object): string {
  const shown = Object.entries(value).map(([key, count]) => `${count} ${key}`);
  return shown.length === 0 ? '-' : shown.join(', ');
}
