import type { Argument, Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS, SHOWN_GROUPS } from '../../src/cli/command-table.js';
import { createProgram } from '../../src/cli/program.js';
import { anchorsOf, asCode, ROOT } from './pages.js';

/** A page that is written from the command line itself: `npm run docs` writes it, and this test compares. */

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function defaultOf({ defaultValue, defaultValueDescription }: Option | Argument): string {
  if (defaultValueDescription !== undefined) return ` (default: ${defaultValueDescription})`;
  if (defaultValue === undefined || defaultValue === false) return '';
  return Array.isArray(defaultValue) && defaultValue.length === 0 ? '' : ` (default: \`${defaultValue}\`)`;
}

function about({ description, argChoices }: Option | Argument): string {
  const choices = argChoices === undefined ? '' : `: ${argChoices.map((each) => `\`${each}\``).join(', ')}`;
  return asCode(cell(description)) + choices;
}

/** The lines behind the help of a command that show it in use. */
function examplesOf(command: Command): string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return [...help.matchAll(/^ {2}\$ (.+(?:\\\n.+)*)$/gm)].map(([, line = '']) => line);
}

function innerOf(command: Command): Command[] {
  return command.commands.filter((each) => each.name() !== 'help');
}

function section(command: Command, path: string): string {
  const takes = command.registeredArguments.map((each) => {
    const name = `${each.name()}${each.variadic ? '...' : ''}`;
    return { shown: each.required ? `<${name}>` : `[${name}]`, each };
  });
  const usage = ['throughline', path, ...takes.map(({ shown }) => shown)].join(' ');
  const rows = [
    ...takes.map(({ shown, each }) => `| \`${shown}\` | ${about(each)}${defaultOf(each)} |`),
    ...command.options
      .filter(({ hidden }) => !hidden)
      .map(
        (each) =>
          `| \`${cell(each.flags)}\` | ${about(each)}${each.mandatory ? ' (required)' : ''}${defaultOf(each)} |`,
      ),
  ];
  const inner = innerOf(command);
  const shown = examplesOf(command);
  const parts = [
    `${path.includes(' ') ? '###' : '##'} ${path}`,
    `\`${usage}\``,
    asCode(command.description()),
    ...(inner.length === 0
      ? []
      : [inner.map((each) => `[${each.name()}](#${path}-${each.name()})`.replaceAll(' ', '-')).join(' · ')]),
    ...(rows.length === 0 ? [] : [['| argument or option | meaning |', '|---|---|', ...rows].join('\n')]),
    ...(shown.length === 0 ? [] : [`\`\`\`sh\n${shown.join('\n')}\n\`\`\``]),
  ];
  return [parts.join('\n\n'), ...inner.map((each) => section(each, `${path} ${each.name()}`))].join('\n\n');
}

const TITLES: Readonly<Record<string, string>> = {
  admin: 'Administrators',
  dev: 'Developers',
  hidden: 'Called by programs',
};

const program = await createProgram();

describe('the page of commands', () => {
  it('the reference gives every command with its arguments, options, defaults and examples', async () => {
    const table = (group: string) =>
      COMMANDS.filter((each) => each.group === group)
        .map(({ name, summary }) => `| [\`${name}\`](#${name.replaceAll(' ', '-')}) | ${asCode(summary)} |`)
        .join('\n');
    const tables = [...SHOWN_GROUPS, 'admin', 'dev', 'hidden'].map(
      (group) => `### ${TITLES[group] ?? group}\n\n| command | what it does |\n|---|---|\n${table(group)}`,
    );
    const page = `# Commands

Every command of \`throughline\` with its arguments, options, defaults and an example. This page is written from the commands
themselves; \`throughline COMMAND --help\` says the same.

## All commands at a glance

${tables.join('\n\n')}

## For all commands

| option | meaning |
|---|---|
| \`--nats <url>\` | NATS server to use. Default: \`NATS_URL\`, else that of \`throughline up\` in this folder, else \`nats://127.0.0.1:4222\`. |
| \`-h, --help\` | print arguments, options and an example |
| \`--version\` | print the version; of \`throughline\` alone |

All other settings are [variables](configuration.md). Answers go to standard output, everything else to standard error:
with \`--json\`, standard output holds JSON and nothing else, and an error is one line of JSON on standard error:
\`{"error":{"code","message","fix"}}\`. [\`dev completion\`](#dev-completion) writes a file that completes commands, options and
sessions in your shell.

| exit code | meaning |
|---|---|
| 0 | done; of \`doctor\` and \`admin health\`: all works |
| 1 | it failed or was refused; a result or a file cannot be read as what it should be. The message ends with its [error code](errors.md) |
| 2 | wrong usage: an option, an argument, a variable or a name that is unknown, missing or cannot be (\`usage\`, \`config_invalid\`, \`token_invalid\`, and \`schema_invalid\` of a value) |
| 3 | what you named does not exist (\`not_found\`) |
| 128 + n | ended by signal n: 130 for Ctrl-C, 143 for \`kill\` |

${innerOf(program)
  .map((each) => section(each, each.name()))
  .join('\n\n')}
`;
    await expect(page).toMatchFileSnapshot(`${ROOT}docs/reference/commands.md`);
    const anchors = anchorsOf(page);
    expect(new Set(anchors).size).toBe(anchors.length);
  });

  it('each command without others below it has an example in its help', () => {
    const bare = (command: Command, path: string): string[] => {
      const inner = innerOf(command);
      if (inner.length > 0) return inner.flatMap((each) => bare(each, `${path} ${each.name()}`));
      return examplesOf(command).some((line) => line.includes('throughline')) ? [] : [path];
    };
    expect(innerOf(program).flatMap((each) => bare(each, each.name()))).toEqual([]);
  });
});
