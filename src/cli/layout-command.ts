import { type Command, Option } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import { DEFAULT_SHARDS, type InstalledLayout, layoutInWords } from '../contracts/session-layout.js';
import { systemClock } from '../ports/clock.js';
import { movingTo } from '../services/layout/moving-to.js';
import { counted } from '../shared/counted.js';
import { cliOf, examples, note, out, withNats } from './command-context.js';
import { addShardsOption } from './layout-options.js';
import { progressLine } from './progress-line.js';

/** How long the first session is taken to have been on the way. */
const FIRST_MOVE_MS = 100;

interface MigrateOptions {
  readonly shards?: number;
  readonly finish?: boolean;
  readonly back?: boolean;
  readonly json?: boolean;
}

export function layoutCommand(program: Command): void {
  const layout = program
    .command('layout')
    .description('How the logs of sessions are laid out in streams.')
    .addHelpText('after', examples('throughline layout show', 'throughline layout migrate'));

  layout
    .command('show')
    .summary('say how sessions are laid out, and how far a move is')
    .description('Says what layout is recorded, how many sessions are where, and how far a move is.')
    .option('--json', 'print {"layout", "sessions": {"own", "sharded"}, "onTheirWay", "left"}')
    .addHelpText('after', examples('throughline layout show', 'throughline layout show --json'))
    .action(async (options: { json?: boolean }, command: Command) => {
      const { layoutStatus } = await import('../services/layout/layout-status.js');
      const status = await withNats(cliOf(command), layoutStatus);
      if (options.json) return out(JSON.stringify(status));
      const { own, sharded } = status.sessions;
      out(`${inWords(status.layout)}: ${counted(own, 'session')} with a stream each, ${sharded} in shards`);
      if (status.onTheirWay > 0) out(`${counted(status.onTheirWay, 'session')} on the way`);
      if (status.left > 0)
        out(`${counted(status.left, 'stream')} left behind: remove with throughline layout migrate --finish`);
      const next = nextOf(status.layout, own);
      if (next !== undefined) out(next);
    });

  addShardsOption(
    layout
      .command('migrate')
      .summary('move all sessions to shards, or back')
      .description(
        'Moves all sessions from a stream each to shards, one after the other, while the services run or not. Each session is\n' +
          'compared with its copy before it counts as moved. Run it again if it is interrupted. Until --finish, --back\n' +
          'moves them back. Needs the rights of an administrator of the account. The exit code is 1 when a session could\n' +
          'not be moved.',
      )
      .addOption(new Option('--to <layout>', 'where to').choices(['sharded']).default('sharded')),
    'number of shards',
  )
    .option(
      '--finish',
      'move what is left, then remove the streams of sessions, so that nothing can be moved back',
    )
    .addOption(
      new Option('--back', 'move all sessions back to a stream each').conflicts(['finish', 'shards']),
    )
    .option('--json', 'print {"layout", "moved", "failed": [{"session", "code", "message"}]}')
    .addHelpText(
      'after',
      examples(
        'throughline layout migrate',
        'throughline layout migrate --shards 128',
        'throughline layout migrate --back',
        'throughline layout migrate --finish',
      ),
    )
    .action(async (options: MigrateOptions, command: Command) => {
      const { LayoutMove } = await import('../services/layout/layout-move.js');
      const cli = cliOf(command);
      const report = await withNats(
        cli,
        async (nats) => {
          const { layout: there } = await nats.moving.recorded();
          const progress = movesShown(!options.json);
          const lifecycle = await nats.openLifecycle();
          const move = new LayoutMove({
            nats,
            clock: systemClock,
            leaving: () => [...lifecycle.unfinished()],
            onProgress: progress.reached,
            onWaiting: progress.waiting,
          });
          try {
            if (options.back) return await move.back();
            return await move.toShards(shardsOf(there, options.shards), options.finish === true);
          } finally {
            progress.ended();
            lifecycle.close();
          }
        },
        ['layout', 'snapshots'],
      );
      if (report.failed.length > 0) process.exitCode = 1;
      if (options.json) return out(JSON.stringify(report));
      for (const { session, message } of report.failed) note(`-- ${session}: ${message}`);
      out(`${counted(report.moved, 'session')} moved; ${inWords(report.layout)}`);
      if (report.failed.length > 0) out(`${counted(report.failed.length, 'session')} not moved`);
      const next = nextOf(report.layout, 0);
      if (next !== undefined) out(next);
    });
}

function shardsOf(there: InstalledLayout, wanted: number | undefined): number {
  if (there.layout === 'per-session') return wanted ?? DEFAULT_SHARDS;
  if (wanted === undefined || wanted === there.shards) return there.shards;
  if (there.layout === 'moving') throw movingTo(there, wanted);
  throw new ThroughlineError(
    'config_invalid',
    `--shards is ${wanted}, but the installation has ${there.shards} shards, and their number never changes: leave out --shards`,
  );
}

function inWords(layout: InstalledLayout): string {
  if (layout.layout !== 'moving') return layoutInWords(layout);
  return layout.towards === 'sharded'
    ? `sessions move to ${counted(layout.shards, 'shard')}`
    : 'sessions move back to a stream each';
}

function nextOf(layout: InstalledLayout, left: number): string | undefined {
  if (layout.layout !== 'moving') return undefined;
  if (layout.towards === 'per-session') return 'go on with: throughline layout migrate --back';
  const next =
    left > 0 ? 'go on with: throughline layout migrate' : 'end it with: throughline layout migrate --finish';
  return `${next}, or go back with: throughline layout migrate --back`;
}

/** Says on standard error how many sessions have moved, how fast, and how long it takes. */
function movesShown(wanted: boolean) {
  const progress = progressLine(wanted);
  // Until the first session has moved, every process is waited for.
  let started: number | undefined;
  return {
    reached(done: number, total: number): void {
      started ??= performance.now() - FIRST_MOVE_MS;
      const began = started;
      progress.reached(() => {
        const rate = done / ((performance.now() - began) / 1000);
        const left = Math.ceil((total - done) / rate);
        return `-- ${done} of ${counted(total, 'session')} moved, ${rate.toFixed(0)} a second, ${left} s left`;
      });
    },
    waiting(fault: string): void {
      progress.aside(`-- ${fault}. Waiting for the servers to answer, up to 30 s`);
    },
    ended: progress.ended,
  };
}
