import type { Command } from 'commander';
import { z } from 'zod';
import { COMPILER_SERVICE } from '../contracts/names.js';
import { serviceStats } from '../nats/micro/service-stats.js';
import { foldedState } from '../services/common/open-sessions.js';
import { cliOf, examples, out, withNats } from './command-context.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';

const counts = z.record(z.string(), z.number());
const sessionCounts = z.object({
  compiles: z.number(),
  errors: counts,
  ledgerModes: counts,
  // Workers of an earlier version send none.
  fallbacks: counts.default({}),
  rebuilds: z.number(),
  shortened: z.number(),
  tokensWanted: z.number(),
  tokensUsed: z.number(),
  retrievalMs: z.number(),
  retrievalMaxMs: z.number(),
});
/** Rejected dispatches that are looked through; they are counted by error code while they wait to be retried. */
const MAX_REJECTED = 1000;

type Counts = z.infer<typeof sessionCounts>;

export function telemetryCommand(program: Command): void {
  onSession(program.command('telemetry'))
    .description(
      'Adds up what all running prompt-compilers have counted for a session since they started,\n' +
        'and what the session records about its dispatches.',
    )
    .option('--json', 'print it as JSON')
    .addHelpText('after', examples('throughline telemetry demo', 'throughline telemetry demo --json'))
    .action(async (_: string | undefined, options: { json?: boolean }, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const report = await withNats(cli, async (nats) => {
        const stats = await serviceStats(nats.connection, COMPILER_SERVICE, 'compile');
        const parsed = stats.map(
          (data) => z.record(z.string(), sessionCounts).safeParse(data).data?.[session],
        );
        const state = await foldedState(nats, cli.logger, session);
        requireEvents(session, state.sequence);
        const { counts: dispatches, ledgers } = state.dispatches.current();
        const loops = [...ledgers.values()].reduce((sum, ledger) => sum + ledger.approvalLoops, 0);
        const compilers = parsed.filter((each) => each !== undefined);
        const rejections: Record<string, number> = {};
        for (const entry of await nats.rejected.list(MAX_REJECTED)) {
          if (entry.session === session) rejections[entry.code] = (rejections[entry.code] ?? 0) + 1;
        }
        const ofSession = { session, dispatches, rejections, approvalLoops: loops, compilers: stats.length };
        return { ...ofSession, ...added(compilers) };
      });
      if (options.json) return out(JSON.stringify(report));
      for (const [key, value] of Object.entries(report)) {
        out(`${key.padEnd(16)}${typeof value === 'object' ? entries(value) : value}`);
      }
    });
}

function added(all: readonly Counts[]): Counts {
  const total = (pick: (each: Counts) => number) => all.reduce((sum, each) => sum + pick(each), 0);
  const merged = (pick: (each: Counts) => Record<string, number>) => {
    const sums: Record<string, number> = {};
    for (const each of all)
      for (const [key, value] of Object.entries(pick(each))) sums[key] = (sums[key] ?? 0) + value;
    return sums;
  };
  return {
    compiles: total((each) => each.compiles),
    errors: merged((each) => each.errors),
    ledgerModes: merged((each) => each.ledgerModes),
    fallbacks: merged((each) => each.fallbacks),
    rebuilds: total((each) => each.rebuilds),
    shortened: total((each) => each.shortened),
    tokensWanted: total((each) => each.tokensWanted),
    tokensUsed: total((each) => each.tokensUsed),
    retrievalMs: Math.round(total((each) => each.retrievalMs) * 100) / 100,
    retrievalMaxMs: Math.round(Math.max(0, ...all.map((each) => each.retrievalMaxMs)) * 100) / 100,
  };
}

function entries(value: object): string {
  const shown = Object.entries(value).map(([key, count]) => `${count} ${key}`);
  return shown.length === 0 ? '-' : shown.join(', ');
}
