import { existsSync, rmSync } from 'node:fs';
import { stateDirOf } from '../config/config.js';
import { userStore } from '../config/user-server.js';
import type { Command, Flags } from './cli-command.js';
import { cliOf, note, out } from './command-context.js';
import { everyConnection, removeConnections } from './connect-command.js';
import { runningUp, stopDetached } from './detached-up.js';
import { confirmed } from './output.js';
import { PATIENCE_MS } from './up-command.js';

export function uninstallCommand(program: Command): void {
  program
    .command('uninstall')
    .description(
      'Takes out of this machine what Throughline has written for you: the entries of every connected client, the server, and\n' +
        'the state and cache directories with all sessions. Lists it and asks first. "session export --all" keeps a copy.',
    )
    .option('--keep-memory', 'leave the state directory: all sessions stay')
    .option('--dry-run', 'show the list, and change nothing')
    .option('--yes', 'remove without asking')
    .examples('throughline uninstall --dry-run', 'throughline uninstall --keep-memory')
    .action(async (options: Flags<'keepMemory' | 'dryRun' | 'yes'>, command: Command) => {
      const cli = cliOf(command);
      const { config } = cli;
      const stateDir = stateDirOf(config.env);
      const store = userStore(stateDir);
      const running = await runningUp(store);
      const folders = [config.cacheDir, ...(options.keepMemory === true ? [] : [stateDir])].filter((folder) =>
        existsSync(folder),
      );
      for (const { text } of everyConnection(cli)) out(text);
      if (running !== undefined) out(`the server ${running.url}`);
      for (const folder of folders) out(`${folder}${folder === stateDir ? ', with all sessions' : ''}`);
      if (options.dryRun === true) return note('-- nothing was changed');
      if (!(await confirmed('Remove all of this?', options.yes))) return;
      removeConnections(cli);
      await stopDetached(store, config.shutdownMs + PATIENCE_MS);
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
      note('-- the package itself: "npm uninstall --global throughline"');
    });
}
