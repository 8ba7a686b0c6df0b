import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument } from 'commander';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { SCHEMA_LIST, schemaText } from '../contracts/json-schemas.js';
import { builtFolder } from '../engine/files/user-state.js';
import { nearestName } from '../shared/nearest-name.js';
import type { Command } from './cli-command.js';
import { cliOf, out, withClient } from './command-context.js';

export function schemaCommand(program: Command): void {
  const schema = program
    .command('schema')
    .description('JSON Schemas of results, requests, replies, events and the snapshot (draft 2020-12).')
    .examples('throughline dev schema print result.implementer');

  schema
    .command('ls')
    .description('Lists the schemas.')
    .option('--json', 'print {"schemas":[{"name","about"}]}')
    .examples('throughline dev schema ls --json')
    .action(({ json }: { json?: boolean }) => {
      if (json) return out(JSON.stringify({ schemas: SCHEMA_LIST }));
      const width = Math.max(...SCHEMA_LIST.map(({ name }) => name.length));
      for (const { name, about } of SCHEMA_LIST) out(`${name.padEnd(width)}  ${about}`);
    });

  schema
    .command('print')
    .description('Prints a schema.')
    .argument('<name>', 'name of the schema, as schema ls shows it')
    .examples('throughline dev schema print prompt.compile.request > request.json')
    .action((name: string) => {
      const found = schemaText(name);
      if (found !== undefined) return out(found);
      const names = SCHEMA_LIST.map((schema) => schema.name);
      const near = nearestName(name, names);
      const what = `there is no schema ${JSON.stringify(name)}`;
      const meant = near === undefined ? `${what}:` : `${what}; did you mean ${near}?`;
      throw new ThroughlineError('not_found', `${meant} "throughline dev schema ls" lists them`);
    });
}

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
      'throughline dev completion bash > ~/.local/share/bash-completion/completions/throughline',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
      'throughline dev completion zsh > "${fpath[1]}/_throughline"',
      'throughline dev completion fish > ~/.config/fish/completions/throughline.fish',
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
