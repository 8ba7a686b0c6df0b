import type { Command } from 'commander';
import { cliOf, examples, out, withClient } from './command-context.js';
import { onSession, sessionGiven } from './session-argument.js';
import { telemetryLines } from './show-query.js';

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
      for (const line of telemetryLines(report)) out(line);
    });
}
