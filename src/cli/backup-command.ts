import { randomUUID } from 'node:crypto';
import { InvalidArgumentError } from 'commander';
import { isShardCount, LAYOUTS, MAX_SHARDS, type SessionLayout } from '../contracts/names.js';
import { backUp } from '../nats/backup/back-up.js';
import { restore } from '../nats/backup/restore.js';
import { counted } from '../shared/text.js';
import { VERSION } from '../version.js';
import type { Command, Flags, Numbers } from './cli-command.js';
import type { Cli } from './cli-context.js';
import { cliOf, note, out, withConnection } from './command-context.js';
import { wholeNumber } from './option-parsers.js';
import { transferProgress } from './progress-line.js';

export function backupCommand(program: Command): void {
  program
    .command('backup')
    .argument('<directory>', 'where to write it: a new or empty directory')
    .description(
      'Copies the whole installation into a directory, while it runs: all streams and buckets, each event with its\n' +
        'dispatch. Results that were not extracted yet are extracted after a restore. The files can be read by their owner\n' +
        'alone: they hold everything that agents said. Needs a user with the permissions of the role backup.',
    )
    .option('--quiet', 'no progress')
    .option('--json', 'print {"directory", "id", "at", "layout", "streams", "messages", "bytes"}')
    .examples('throughline admin backup /backups/$(date +%F)', 'throughline admin backup b1 --json')
    .action(async (directory: string, options: { quiet?: boolean; json?: boolean }, command: Command) => {
      const cli = cliOf(command);
      const progress = transferProgress(!options.quiet, 'stream', 'copied');
      const made = await withConnection(cli, (connection) =>
        backUp(connection, {
          directory,
          id: randomUUID(),
          at: new Date().toISOString(),
          version: VERSION,
          timeoutMs: cli.config.requestTimeoutMs,
          onProgress: progress.reached,
          onAgain: (why) => progress.aside(`-- ${why}`),
        }),
      ).finally(progress.ended);
      const { id, at, layout, streams } = made;
      const messages = streams.reduce((sum, each) => sum + each.messages, 0);
      const bytes = streams.reduce((sum, each) => sum + each.bytes, 0);
      if (options.json)
        return out(JSON.stringify({ directory, id, at, layout, streams: streams.length, messages, bytes }));
      out(
        `backed up ${counted(streams.length, 'stream')} with ${counted(messages, 'message')} to ${directory} (${bytes} bytes)`,
      );
    });
}

type RestoreFlags = Flags<'again' | 'quiet' | 'json'> & Numbers<'replicas'>;

export function restoreCommand(program: Command): void {
  program
    .command('restore')
    .argument('<directory>', 'a backup that "throughline admin backup" has made')
    .description(
      'Makes an installation from a backup, on a server or in an account that has none. Checks all files first. Services\n' +
        'do not start before it is done. Needs the rights of an administrator of the account. "throughline up" creates streams\n' +
        'at once, so run its NATS server alone first, as in the first example, and "throughline up" afterwards.',
    )
    .option('--again', 'go on with a restore of this backup that was cut off')
    .option('--replicas <n>', 'copies of each stream (default: as in the backup)', wholeNumber(1, 5))
    .option('--quiet', 'no progress')
    .option('--json', 'print {"id", "at", "layout", "streams", "kept", "fewer": [{"stream", "missing"}]}')
    .examples(
      '"$(throughline admin nats-server)" --jetstream --addr 127.0.0.1 --store_dir ~/.local/state/throughline/server',
      'throughline admin restore /backups/2026-11-23',
      'throughline admin restore b1 --again',
    )
    .action(async (directory: string, options: RestoreFlags, command: Command) => {
      const cli = cliOf(command);
      const { again = false, replicas, quiet, json } = options;
      const timeoutMs = cli.config.requestTimeoutMs;
      const steps = {
        check: transferProgress(!quiet, 'file', 'checked'),
        restore: transferProgress(!quiet, 'stream', 'restored'),
      };
      const { manifest, kept, fewer } = await withConnection(cli, (connection) =>
        restore(connection, {
          ...{ directory, again, replicas, timeoutMs },
          onProgress: (progress, step) => {
            if (step === 'restore') steps.check.ended();
            steps[step].reached(progress);
          },
        }),
      ).finally(() => {
        for (const each of Object.values(steps)) each.ended();
      });
      const { id, at, layout, streams } = manifest;
      if (json) return out(JSON.stringify({ id, at, layout, streams: streams.length, kept, fewer }));
      for (const { stream, missing } of fewer)
        note(
          `-- ${stream}: ${counted(missing, 'message')} fewer, removed during the backup or too old by now`,
        );
      const before = kept === 0 ? '' : `, ${kept} of them before`;
      out(`restored ${counted(streams.length, 'stream')} of the backup of ${at}${before}`);
      note('-- start the services, then look at everything with "throughline doctor"');
    });
}

/** Layout of session logs from options; missing ones come from the settings. */
export interface LayoutOptions {
  readonly layout?: SessionLayout['layout'];
  readonly shards?: number;
}

/** @param about what the layout is for, in the help */
export function addLayoutOptions(command: Command, about: string): Command {
  return command
    .choice('--layout <layout>', `${about} (default: THROUGHLINE_LAYOUT)`, LAYOUTS)
    .option(
      '--shards <n>',
      'its number of streams with --layout sharded (default: from THROUGHLINE_LAYOUT)',
      shards,
    );
}

export function withLayout<C extends Cli>(cli: C, { layout, shards: count }: LayoutOptions): C {
  const { config } = cli;
  return { ...cli, config: { ...config, layout: layout ?? config.layout, shards: count ?? config.shards } };
}

export function shards(raw: string): number {
  const value = Number(raw);
  if (/^\d+$/.test(raw) && isShardCount(value)) return value;
  throw new InvalidArgumentError(`Use a power of two from 1 to ${MAX_SHARDS}.`);
}
