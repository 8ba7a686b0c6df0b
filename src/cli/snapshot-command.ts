import type { Command } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import type { NatsPorts } from '../nats/open-nats.js';
import { sessionReader } from '../services/common/open-sessions.js';
import { cliOf, examples, out, withClient, withNats } from './command-context.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import { snapshotLines } from './show-query.js';

interface SnapshotOptions {
  readonly json?: boolean;
}

export function snapshotCommand(program: Command): void {
  const snapshot = program
    .command('snapshot')
    .description('Snapshots save replaying: they are written after every so many events, and on demand.')
    .addHelpText('after', examples('throughline snapshot show demo'));

  onSession(snapshot.command('show'))
    .description('Prints what the stored snapshot holds.')
    .option('--json', 'print the snapshot itself')
    .addHelpText('after', examples('throughline snapshot show demo', 'throughline snapshot show demo --json'))
    .action(async (_: string | undefined, options: SnapshotOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const { json: whole = false } = options;
      const shown = await withClient(cli, (client) => client.tools.snapshotShow({ session, whole }));
      if (whole) return out(shown.text ?? '');
      out(`session         ${session}`);
      for (const line of snapshotLines(shown)) out(line);
    });

  onSession(snapshot.command('write'))
    .description('Folds the session and writes its snapshot now.')
    .option('--json', 'print {"outcome":…,"sequence":N}')
    .addHelpText('after', examples('throughline snapshot write demo'))
    .action(async (_: string | undefined, options: SnapshotOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const write = async (nats: NatsPorts) => {
        const { reader, writer } = sessionReader(nats, cli.config, cli.logger);
        const { folded } = await reader.load(session);
        const { sequence } = folded.state;
        requireEvents(session, sequence);
        await writer.stop();
        const outcome = await writer.write(folded);
        if (outcome === 'too_large') {
          throw new ThroughlineError(
            'too_large',
            'the snapshot is larger than the server accepts: raise max_payload',
          );
        }
        if (options.json) return out(JSON.stringify({ outcome, sequence }));
        out(
          outcome === 'saved'
            ? `snapshot written at sequence ${sequence}`
            : `a snapshot at sequence ${sequence} or later exists already`,
        );
      };
      await withNats(cli, write, ['snapshots']);
    });
}
