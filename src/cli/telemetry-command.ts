import type { Command } from 'commander';
import { COMPILER_SERVICE } from '../contracts/names.js';
import { totalTelemetry, unwrittenTelemetry } from '../contracts/session-telemetry.js';
import { serviceStats } from '../nats/micro/service-stats.js';
import { foldedState } from '../services/common/open-sessions.js';
import { cliOf, examples, out, withNats } from './command-context.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';

/** Rejected dispatches that are looked through; they are counted by error code while they wait to be retried. */
const MAX_REJECTED = 1000;

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
      const report = await withNats(cli, async (nats) => {
        // Before what is stored: what is written in between is then known to be in it.
        const stats = await serviceStats(nats.connection, COMPILER_SERVICE, 'compile');
        const compilers = stats.flatMap((data) => unwrittenTelemetry.safeParse(data).data ?? []);
        const total = totalTelemetry(await nats.telemetry.load(session), compilers, session);
        const state = await foldedState(nats, cli.logger, session);
        requireEvents(session, state.sequence);
        const { counts: dispatches, ledgers } = state.dispatches.current();
        const approvalLoops = [...ledgers.values()].reduce((sum, ledger) => sum + ledger.approvalLoops, 0);
        const rejections: Record<string, number> = {};
        for (const entry of await nats.rejected.list(MAX_REJECTED)) {
          if (entry.session === session) rejections[entry.code] = (rejections[entry.code] ?? 0) + 1;
        }
        const rebuilt = await nats.log.read(session, { after: 0, type: 'progress.rebuilt' });
        const rebuilds = rebuilt.events.length;
        const { retrievalMs, retrievalMaxMs, ...counts } = total;
        const times = { retrievalMs: rounded(retrievalMs), retrievalMaxMs: rounded(retrievalMaxMs) };
        const logged = { dispatches, rejections, approvalLoops, rebuilds };
        return { session, ...logged, compilers: stats.length, ...counts, ...times };
      });
      if (options.json) return out(JSON.stringify(report));
      for (const [key, value] of Object.entries(report)) {
        out(`${key.padEnd(16)}${typeof value === 'object' ? entries(value) : value}`);
      }
    });
}

/** To hundredths. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}

function entries(value: object): string {
  const shown = Object.entries(value).map(([key, count]) => `${count} ${key}`);
  return shown.length === 0 ? '-' : shown.join(', ');
}
