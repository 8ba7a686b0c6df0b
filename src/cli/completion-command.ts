import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument } from 'commander';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { builtFolder } from '../engine/files/user-state.js';
import type { Command } from './cli-command.js';
import { cliOf, out, withClient } from './command-context.js';

/** Names that a shell offers: more than these no one reads. */
const MAX_SESSIONS = 100;
const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function completionCommand(program: Command): void {
  program
    .command('completion')
    .description('Prints a script that completes commands, options and sessions in your shell.')
    .addArgument(new Argument('[shell]', 'your shell').choices(SHELLS))
    .option(
      '--sessions',
      'print the names of the sessions that moved last, one on a line: the scripts ask for them',
    )
    .examples(
      'throughline admin completion bash > ~/.local/share/bash-completion/completions/throughline',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
      'throughline admin completion zsh > "${fpath[1]}/_throughline"',
      'throughline admin completion fish > ~/.config/fish/completions/throughline.fish',
    )
    .action(async (shell: string | undefined, { sessions }: { sessions?: boolean }, command: Command) => {
      if (sessions) {
        const list = { brief: true, limit: MAX_SESSIONS };
        const found = await withClient(cliOf(command), ({ tools }) => tools.sessionList(list));
        for (const { session } of found.sessions) out(session);
        return;
      }
      if (shell === undefined) throw usageError(`which shell? Use one of ${SHELLS.join(', ')}`);
      const folder = builtFolder('completions');
      if (folder === undefined)
        throw new ThroughlineError(
          'unavailable',
          'the completions are missing from this installation: build them with "npm run build"',
        );
      out(readFileSync(join(folder, `completion.${shell}`), 'utf8').trimEnd());
    });
}
