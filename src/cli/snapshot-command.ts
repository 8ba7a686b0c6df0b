import type { Command } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import { ROLES } from '../contracts/kinds.js';
import type { NatsPorts } from '../nats/open-nats.js';
import { foldedState, sessionReader } from '../services/common/open-sessions.js';
import { decodeSnapshot } from '../session/session-snapshot.js';
import { factsOf } from '../session/session-state.js';
import { cliOf, examples, out, withNats } from './command-context.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';

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
      const stored = await withNats(cli, async (nats) => {
        const found = await nats.snapshots.load(session);
        if (found === undefined)
          requireEvents(session, (await foldedState(nats, cli.logger, session)).sequence);
        return found;
      });
      if (stored === undefined)
        throw new ThroughlineError('not_found', `session ${session} has no snapshot yet`);
      if (options.json) return out(stored.text);
      const decoded = decodeSnapshot(session, stored.text);
      if (!decoded.ok)
        throw new ThroughlineError('internal', `the snapshot cannot be read (${decoded.reason})`);
      const { state, createdAt } = decoded;
      const { counts } = state.dispatches.current();
      out(`session         ${session}`);
      out(`after sequence  ${state.sequence}`);
      out(`created at      ${createdAt}`);
      out(`size            ${Buffer.byteLength(stored.text)} bytes`);
      out(`valid facts     ${factsOf(state).count()}`);
      const byRole = [...ROLES, 'rejected' as const].map((kind) => `${counts[kind]} ${kind}`);
      out(`dispatches      ${byRole.join(', ')}`);
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
