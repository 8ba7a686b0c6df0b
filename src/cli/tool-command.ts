import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { TOOL_NAMES, TOOLS, type ToolName } from '../contracts/tool-requests.js';
import { cliOf, coloured, examples, out, sessionOf, wholeNumber, withClient } from './command-context.js';
import { showReply } from './show-reply.js';

/** `throughline tool …`: one command for each tool of the service, with options made from its input. */
export function toolCommand(program: Command): void {
  const tool = program
    .command('tool')
    .description('Tools for agents at work: each command is a request to the service session-tools.')
    .addHelpText('after', examples('throughline tool task-next --name demo --claim agent-1'));
  for (const name of TOOL_NAMES) addTool(tool, name);
}

function addTool(parent: Command, name: ToolName): void {
  const { summary, example, shape } = TOOLS[name];
  const command = parent
    .command(name)
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .option('-n, --name <session>', 'session (default: THROUGHLINE_SESSION)')
    .addOption(new Option('-s, --session <name>', 'the same as --name').hideHelp());
  const fields = Object.entries<z.ZodType>(shape);
  for (const [field, schema] of fields) command.addOption(optionOf(field, schema));
  command
    .option('--json', 'print the whole reply as JSON')
    .addHelpText('after', examples(`throughline tool ${name} --name demo ${example}`.trimEnd()))
    .action(async (options: Record<string, unknown>, self: Command) => {
      const cli = cliOf(self);
      const session = sessionOf(cli, nameIn(options), '--name');
      const given = fields.flatMap(([field]) =>
        options[field] === undefined ? [] : [[field, options[field]]],
      );
      const request = { session, ...Object.fromEntries(given) };
      const reply = await withClient(cli, (client) => client.requestTool(name, request));
      if (options.json === true) return out(JSON.stringify(reply));
      out(showReply(reply, coloured(cli)), coloured(cli));
    });
}

function nameIn({ name, session }: Record<string, unknown>): string | undefined {
  const given = name ?? session;
  return typeof given === 'string' ? given : undefined;
}

/** An option for one field: its kind follows from the schema. */
function optionOf(field: string, schema: z.ZodType): Option {
  const flag = `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const { inner, required, fallback } = unwrapped(schema);
  const note = fallback === undefined ? '' : ` (default: ${fallback})`;
  if (inner instanceof z.ZodBoolean) return new Option(flag, DESCRIPTIONS[field] ?? field);
  const many = inner instanceof z.ZodUnion;
  const option = new Option(
    `${flag} <${many ? 'id...' : placeholderOf(field)}>`,
    `${DESCRIPTIONS[field] ?? field}${note}`,
  );
  option.makeOptionMandatory(required);
  if (inner instanceof z.ZodObject)
    return new Option(`${flag} <key=value...>`, DESCRIPTIONS[field] ?? field).argParser(settingPair);
  if (inner instanceof z.ZodEnum) option.choices(inner.options.map(String));
  if (inner instanceof z.ZodNumber)
    option.argParser(wholeNumber(field === 'priority' ? 0 : 1, field === 'priority' ? 4 : undefined));
  return option;
}

function unwrapped(schema: z.ZodType): { inner: unknown; required: boolean; fallback: unknown } {
  if (schema instanceof z.ZodDefault) {
    return { inner: schema.def.innerType, required: false, fallback: schema.def.defaultValue };
  }
  if (schema instanceof z.ZodOptional)
    return { inner: schema.def.innerType, required: false, fallback: undefined };
  return { inner: schema, required: true, fallback: undefined };
}

/** Takes one `key=value` into the settings so far; `a.b=1` sets a field of a field. The service checks names and values. */
export function settingPair(pair: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const [, path = '', raw = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
  if (path === '') throw new InvalidArgumentError('Use key=value, such as implementerTokens=8000.');
  const value = /^\d{1,15}$/.test(raw) ? Number(raw) : raw;
  const [key = '', field] = path.split('.');
  if (field === undefined) return { ...before, [key]: value };
  const inner = before[key];
  return { ...before, [key]: { ...(typeof inner === 'object' ? inner : {}), [field]: value } };
}

function placeholderOf(field: string): string {
  return field === 'priority' || field === 'number' ? 'n' : field === 'id' ? 'id' : 'text';
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  id: 'id, number, or a prefix that matches only one',
  content: 'its text',
  priority: '0 critical, 1 high, 2 medium, 3 low, 4 backlog',
  status: 'status',
  dependsOn: 'ids of the tasks to wait for',
  reason: 'why',
  claim: 'name of the agent',
  type: 'kind of note',
  all: 'include read messages',
  number: 'number of the iteration (default: the newest)',
  summary: 'summary of what was accomplished',
  tasksWorked: 'ids of tasks that were worked on, besides those whose status changed',
  replace: 'replace an earlier summary',
  goal: 'goal of the session',
  spec: 'text of the specification',
  specPath: 'path of the specification',
  project: 'the project that the session belongs to',
  force: 'even with open tasks; needs a reason',
  settings: 'settings of its prompts, such as implementerTokens=8000',
};
