import { type Command, Option } from 'commander';
import { messageOf } from '../contracts/errors.js';
import { projectOf, type Token, token } from '../contracts/names.js';
import type { TimelineEntry } from '../contracts/replies/timeline-reply.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import { onConnectionState } from '../nats/connection/connection-states.js';
import { cliOf, examples, note, out } from './command-context.js';
import { projectTaken } from './session-argument.js';
import { timelineLine } from './show-query.js';
import { runUntilSignal } from './signals.js';
import { watchAllSessions } from './watch-all-sessions.js';
import { watchOneSession } from './watch-one-session.js';

interface WatchOptions {
  readonly session?: string;
  readonly project?: string;
  readonly json?: boolean;
}

export function watchCommand(program: Command): void {
  program
    .command('watch')
    .description(
      'Shows what happens in all sessions as it happens, a line each, until Ctrl-C: results, rejected results, commands and\n' +
        'traces. When the connection is lost it says so, and what was missed is shown when it is there again.',
    )
    .addOption(new Option('-s, --session <name>', 'only this session').conflicts('project'))
    .option('--project <name>', 'only sessions of this project')
    .option('--json', 'an entry as JSON on each line, as in "throughline timeline", with its session')
    .addHelpText(
      'after',
      examples('throughline watch', 'throughline watch --session demo --json | jq .summary'),
    )
    .action(async (options: WatchOptions, command: Command) => {
      const cli = cliOf(command);
      const session = options.session === undefined ? undefined : token(options.session, '--session');
      const project = options.project === undefined ? undefined : projectOf(options.project);
      const { json = false } = options;
      const show = (of: Token, entry: TimelineEntry) =>
        out(json ? JSON.stringify({ session: of, ...entry }) : timelineLine(entry, of));
      // The reader of a pipe has seen enough.
      process.stdout.once('error', () => process.exit());
      const shutdown = new Shutdown();
      await runUntilSignal(cli, shutdown, async () => {
        const { openPorts } = await import('./open-ports.js');
        const nats = await openPorts(cli, []);
        shutdown.add('the connection', () => nats.close());
        const saying = whatFails();
        const watched =
          session === undefined
            ? await watchAllSessions(cli, nats, { show, failed: saying.failed, project })
            : await watchOneSession(cli, nats, session, { show, failed: saying.failed });
        shutdown.add('watching', async () => watched.stop());
        const unlisten = onConnectionState(nats.connection, (connected) => {
          note(
            connected
              ? '-- connected again: what was missed comes first'
              : '-- the connection is lost: trying again',
          );
          saying.forget();
          if (connected) watched.look();
        });
        shutdown.add('the connection states', async () => void unlisten());
        for (const line of projectTaken(options.project)) note(line);
        note(
          `-- watching ${session ?? (project === undefined ? 'all sessions' : `project ${project}`)}: Ctrl-C ends it`,
        );
      });
    });
}

/** What fails is said once, until something else does. */
function whatFails() {
  let said: string | undefined;
  return {
    failed(error: unknown) {
      const text = messageOf(error);
      if (text !== said) note(`-- ${text}`);
      said = text;
    },
    forget() {
      said = undefined;
    },
  };
}
