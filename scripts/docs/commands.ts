import type { Argument, Command, Option } from 'commander';
import { COMMANDS } from '../../src/cli/command-table.js';
import { createProgram } from '../../src/cli/program.js';
import { asCode, type Written } from './pages.js';

/** Pages that are written from the command line itself. */

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
export function examplesOf(command: Command): string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return [...help.matchAll(/^ {2}\$ (.+(?:\\\n.+)*)$/gm)].map(([, line = '']) => line);
}

export function innerOf(command: Command): Command[] {
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
    ...(inner.length === 0 || path === 'tool'
      ? []
      : [inner.map((each) => `[${each.name()}](#${path}-${each.name()})`.replaceAll(' ', '-')).join(' · ')]),
    ...(rows.length === 0 ? [] : [['| argument or option | meaning |', '|---|---|', ...rows].join('\n')]),
    ...(shown.length === 0 ? [] : [`\`\`\`sh\n${shown.join('\n')}\n\`\`\``]),
  ];
  if (path === 'tool') return [parts.join('\n\n'), toolTable(inner)].join('\n\n');
  return [parts.join('\n\n'), ...inner.map((each) => section(each, `${path} ${each.name()}`))].join('\n\n');
}

/** One row for each tool: its options are the fields of its request, which another page describes. */
function toolTable(tools: readonly Command[]): string {
  const rows = tools.map((each) => {
    const options = each.options.filter(({ hidden }) => !hidden).map(({ long }) => `\`${long}\``);
    return `| \`${each.name()}\` | ${asCode(cell(each.description()))} | ${options.join(', ')} |`;
  });
  return [
    'The options are the fields of the [requests](../requests.md#tasks-notes-inbox-iterations-toolname);',
    '`throughline tool NAME --help` describes them.\n',
    '| tool | what it does | options |\n|---|---|---|',
    ...rows,
  ].join('\n');
}

/** Title, introduction and file of the page of each group. */
export const GROUPS: Readonly<
  Record<(typeof COMMANDS)[number]['group'], readonly [title: string, about: string]>
> = {
  Start: ['Start', 'You start, connect and check Throughline with these commands.'],
  Agents: ['Agents', 'Your agents, and the programs that call them, use these commands.'],
  Look: ['Look', 'You see with these commands how a session is doing, what happened and what it knows.'],
  Keep: ['Keep', 'You change with these commands what a session or a project stores.'],
  admin: ['Administrators', 'You run an installation with these commands.'],
  dev: ['Developers', 'You build on Throughline with these commands.'],
  hidden: ['Called by programs', 'Programs call these commands; you rarely type them.'],
};
const fileOf = (group: string) => (group === 'hidden' ? 'programs' : group.toLowerCase());

export const program = await createProgram();

export function indexPage(): Written {
  const tables = Object.entries(GROUPS).map(([group, [title]]) => {
    const rows = COMMANDS.filter((each) => each.group === group).map(
      ({ name, summary }) =>
        `| [\`${name}\`](${fileOf(group)}.md#${name.replaceAll(' ', '-')}) | ${asCode(summary)} |`,
    );
    return `## [${title}](${fileOf(group)}.md)\n\n| command | what it does |\n|---|---|\n${rows.join('\n')}`;
  });
  const page = `# Commands

You find every command of \`throughline\` here, by group. Each group has a page with arguments, options, defaults and examples,
generated from the commands; \`throughline COMMAND --help\` prints the same.

${tables.join('\n\n')}

## For all commands

| option | meaning |
|---|---|
| \`--nats <url>\` | NATS server to use. Default: \`NATS_URL\`, otherwise the server of \`throughline team join\`, otherwise your own. |
| \`-h, --help\` | print arguments, options and an example |
| \`--version\` | print the version; only of \`throughline\` itself |

All other settings are [variables](../configuration.md). Answers are printed on standard output, everything else on standard error:
with \`--json\`, standard output has JSON and nothing else, and an error is one line of JSON on standard error:
\`{"error":{"code","message","fix"}}\`. \`throughline dev completion bash\` prints a file that completes commands, options
and sessions in your shell.

| exit code | meaning |
|---|---|
| 0 | done; \`doctor\` and \`admin health\`: everything works |
| 1 | it failed or was refused. The message ends with its [error code](../errors.md) |
| 2 | wrong usage: an unknown, missing or impossible option, argument, variable or name (\`usage\`, \`config_invalid\`, \`token_invalid\`, and \`schema_invalid\` of a value) |
| 3 | what you named does not exist (\`not_found\`) |
| 128 + n | ended by signal n: 130 for Ctrl-C, 143 for \`kill\` |
`;
  return { 'docs/reference/commands/README.md': page };
}

/** One page for each group, with arguments, options, defaults and examples of its commands. */
export function groupPages(): Written {
  const written = Object.entries(GROUPS).map(([group, [title, about]]) => {
    const names = new Set(
      COMMANDS.filter((each) => each.group === group).map(({ name }) => name.split(' ')[0]),
    );
    const sections = innerOf(program).filter((each) => names.has(each.name()));
    const page = `# ${title}

${about} [Commands](README.md) has the options and exit codes of all commands.

${sections.map((each) => section(each, each.name())).join('\n\n')}
`;
    return [`docs/reference/commands/${fileOf(group)}.md`, page];
  });
  return Object.fromEntries(written);
}
