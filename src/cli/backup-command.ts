import { backUp } from '../nats/backup/back-up.js';
import { restore } from '../nats/backup/restore.js';
import { counted } from '../shared/text.js';
import { VERSION } from '../version.js';
import type { Command, Flags, Numbers } from './cli-command.js';
import { cliOf, note, out, withConnection } from './command-context.js';
import { wholeNumber } from './option-parsers.js';
import { progressLine } from './output.js';

export function backupCommand(program: Command): void {
  program
    .command('backup')
    .argument('<directory>', 'where to write it: a new or empty directory')
    .description(
      'Copies the whole installation into a directory, while it runs: all streams and buckets, each event with its\n' +
        'result. Results that were not extracted yet are extracted after a restore. The files can be read by their owner\n' +
        'alone: they hold everything that agents said. Needs a user with the role operator.',
    )
    .option('--json', 'print {"directory", "at", "layout", "streams", "messages", "bytes"}')
    .examples('throughline admin backup /backups/$(date +%F)', 'throughline admin backup b1 --json')
    .action(async (directory: string, { json }: Flags<'json'>, command: Command) => {
      const cli = cliOf(command);
      const progress = progressLine();
      const { at, layout, streams, bytes } = await withConnection(cli, (connection) =>
        backUp(connection, {
          directory,
          at: new Date().toISOString(),
          version: VERSION,
          timeoutMs: cli.config.requestTimeoutMs,
          onProgress: (streams, of) => progress(`${streams} of ${counted(of, 'stream')} copied`),
        }),
      );
      const messages = streams.reduce((sum, { state }) => sum + state.messages, 0);
      if (json)
        return out(JSON.stringify({ directory, at, layout, streams: streams.length, messages, bytes }));
      out(
        `backed up ${counted(streams.length, 'stream')} with ${counted(messages, 'message')} to ${directory} (${bytes} bytes)`,
      );
    });
}

type RestoreFlags = Flags<'json'> & Numbers<'replicas'>;

export function restoreCommand(program: Command): void {
  program
    .command('restore')
    .argument('<directory>', 'a backup that "throughline admin backup" has made')
    .description(
      'Makes an installation from a backup, on a server or in an account that has none. Checks all files first. Services\n' +
        'do not start before it is done. An interrupted restore is deleted and started again. Needs the rights\n' +
        'of an administrator of the account. "throughline up" creates streams at once, so run its NATS server alone first, as\n' +
        'in the first example, and "throughline up" afterwards.',
    )
    .option('--replicas <n>', 'copies of each stream (default: as in the backup)', wholeNumber(1, 5))
    .option('--json', 'print {"at", "layout", "streams"}')
    .examples(
      '"$(throughline admin nats-server)" --jetstream --addr 127.0.0.1 --store_dir ~/.local/state/throughline/server',
      'throughline admin restore /backups/2026-11-23',
    )
    .action(async (directory: string, { replicas, json }: RestoreFlags, command: Command) => {
      const cli = cliOf(command);
      const progress = progressLine();
      const { at, layout, streams } = await withConnection(cli, (connection) =>
        restore(connection, {
          directory,
          replicas,
          timeoutMs: cli.config.requestTimeoutMs,
          onProgress: (streams, of) => progress(`${streams} of ${counted(of, 'stream')} restored`),
        }),
      );
      if (json) return out(JSON.stringify({ at, layout, streams: streams.length }));
      out(`restored ${counted(streams.length, 'stream')} of the backup of ${at}`);
      note(
        '-- start the services, then look at everything with "throughline doctor"; rules of retention are not restored',
      );
    });
}
