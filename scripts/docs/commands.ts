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

/** Options that the page explains once, with a description that begins like this. */
const COMMON: Readonly<Record<string, RegExp>> = {
  '--session': /^(session$|session \(|the same as an option$)/,
  '--json': /./,
  '--project': /^project$/,
  '--reason': /^why, in words$/,
  '--by': /^who /,
  '--limit': /./,
  '--page': /./,
};
const isCommon = ({ long, description }: Option) => COMMON[long ?? '']?.test(description) === true;

/** The first example that shows more than the name of the command. */
const tellingExamples = (command: Command, path: string) =>
  examplesOf(command)
    .filter((line) => !/^( --json)?$/.test(line.replace(`throughline ${path}`, '')))
    .slice(0, 1);

/**
 * Explains arguments and options. A text that an earlier command has already shown is a reference to that command; an
 * argument then needs no word, because the usage shows it.
 */
class Rows {
  private readonly shownIn = new Map<string, string>();

  of(path: string, all: readonly { readonly shown: string; readonly text: string }[]): string[] {
    const again = new Map<string, string[]>();
    const rows = all.flatMap(({ shown, text }) => {
      const first = this.shownIn.get(shown + text);
      if (first !== undefined) {
        if (shown.startsWith('`-')) again.set(first, [...(again.get(first) ?? []), shown]);
        return [];
      }
      if (text.split(' ').length > 4) this.shownIn.set(shown + text, path);
      return [`- ${shown}: ${text}`];
    });
    const references = [...again].map(
      ([first, shown]) => `- ${shown.join(', ')}: as in [${first}](#${anchorOf(first)})`,
    );
    return [...rows, ...references];
  }
}

const anchorOf = (path: string) => path.replaceAll(' ', '-');

function section(command: Command, path: string, rows: Rows): string {
  const takes = command.registeredArguments.map((each) => {
    const name = `${each.name()}${each.variadic ? '...' : ''}`;
    return { shown: each.required ? `<${name}>` : `[${name}]`, each };
  });
  const options = command.options.filter(({ hidden }) => !hidden);
  const common = options.flatMap((each) => (isCommon(each) ? [`[${each.long}]`] : []));
  const usage = ['throughline', path, ...takes.map(({ shown }) => shown), ...common].join(' ');
  const explained = rows.of(path, [
    ...takes
      .filter(({ each }) => each.name() !== 'session')
      .map(({ shown, each }) => ({ shown: `\`${shown}\``, text: `${about(each)}${defaultOf(each)}` })),
    ...options
      .filter((each) => !isCommon(each))
      .map((each) => ({
        shown: `\`${each.flags}\``,
        text: `${about(each)}${each.mandatory ? ' (required)' : ''}${defaultOf(each)}`,
      })),
  ]);
  const inner = innerOf(command);
  const examples = inner.length === 0 || explained.length > 0 ? tellingExamples(command, path) : [];
  const parts = [
    `${path.includes(' ') ? '####' : '###'} ${path}`,
    ...(inner.length === 0 || explained.length > 0 ? [`\`${usage}\``] : []),
    asCode(command.description()),
    ...(explained.length === 0 ? [] : [explained.join('\n')]),
    ...(examples.length === 0 ? [] : [`\`\`\`sh\n${examples.join('\n')}\n\`\`\``]),
  ];
  if (path === 'tool') return [parts.join('\n\n'), TOOLS].join('\n\n');
  return [parts.join('\n\n'), ...inner.map((each) => section(each, `${path} ${each.name()}`, rows))].join(
    '\n\n',
  );
}

const TOOLS =
  'Each request `tool.NAME` of [Requests](requests.md#requests-by-name) is a command of that name, and its fields are options.';

/** The title of each group. */
export const GROUPS: Readonly<Record<(typeof COMMANDS)[number]['group'], string>> = {
  Start: 'Start',
  Agents: 'Agents',
  Look: 'Look',
  Keep: 'Keep',
  admin: 'Administrators',
  hidden: 'Called by programs',
};

export const program = await createProgram();

export function commandsPage(): Written {
  const rows = new Rows();
  const groups = Object.entries(GROUPS).map(([group, title]) => {
    const names = new Set(
      COMMANDS.filter((each) => each.group === group).map(({ name }) => name.split(' ')[0]),
    );
    const sections = innerOf(program).filter((each) => names.has(each.name()));
    return `## ${title}\n\n${sections.map((each) => section(each, each.name(), rows)).join('\n\n')}`;
  });
  const page = `# Commands

You find every command of \`throughline\` here, with its arguments, options, defaults and examples. The page is generated from the
commands; \`throughline COMMAND --help\` prints the same.

## For all commands

- \`-s, --session <name>\`: the session. Many commands also accept it as their argument \`[session]\`. Default: \`THROUGHLINE_SESSION\`,
  otherwise the session in \`.throughline.json\`, otherwise the only one.
- \`--json\`: print the whole reply as JSON. An error is then one line on standard error: \`{"error":{"code","message","fix"}}\`.
- \`--project <name>\`: the project of learnings. Default: \`THROUGHLINE_PROJECT\`, otherwise the project in \`.throughline.json\`, otherwise \`default\`.
- \`--reason <text>\` and \`--by <name>\`: why, and who does it. \`--limit <n>\` entries are listed; the last line has the \`--page\` that follows.
- \`--nats <url>\`: the NATS server. Default: \`NATS_URL\`, otherwise the server of \`throughline team join\`, otherwise your own.
- \`-h, --help\`: print arguments, options and an example; \`throughline --version\` prints the version.

All other settings are [variables](configuration.md). Answers are printed on standard output, everything else on standard error.
\`throughline admin completion bash\` prints a file that completes commands, options and sessions in your shell.

| exit code | meaning |
|---|---|
| 0 | done; \`doctor\` and \`admin health\`: everything works |
| 1 | it failed or was refused. The message ends with its [error code](errors.md) |
| 2 | wrong usage: an unknown, missing or impossible option, argument, variable or name |
| 3 | what you named does not exist (\`not_found\`) |
| 128 + n | ended by signal n: 130 for Ctrl-C, 143 for \`kill\` |

${groups.join('\n\n')}
`;
  return { 'docs/reference/commands.md': page };
}
