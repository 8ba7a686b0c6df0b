import type { Command } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import type { NatsPorts } from '../nats/open-nats.js';
import { sessionReader } from '../services/common/open-sessions.js';
import { cliOf, examples, out, withNats } from './command-context.js';
import { onSession, requireEvents, usualSession } from './session-argument.js';

interface SnapshotOptions {
  readonly json?: boolean;
}

export function snapshotCommand(parent: Command): void {
  onSession(parent.command('snapshot'))
    .description(
      'Folds the session and writes its snapshot now. Services write one after every so many events.',
    )
    .option('--json', 'print {"outcome":…,"sequence":N}')
    .addHelpText('after', examples('throughline admin snapshot demo'))
    .action(async (_: string | undefined, options: SnapshotOptions, command: Command) => {
      const cli = cliOf(command);
      const session = await usualSession(cli, command);
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
