import { HOOK_CLIENTS, type HookClient, MAX_ANSWER, MOMENTS } from '../../src/agents/hooks/hook-table.js';
import { type ListedSchema, listedSchema, MCP_TOOLS } from '../../src/agents/mcp/mcp-tools.js';
import { endingWith, type Written } from './pages.js';

/** The tables of a page are generated from the code. */

interface Shape extends ListedSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Shape[];
}

function kindOf(shape: Shape): string {
  if (shape.enum !== undefined) return shape.enum.map((value) => `\`${value}\``).join(', ');
  if (shape.anyOf !== undefined) return shape.anyOf.map(kindOf).join(' or ');
  if (shape.items !== undefined) return `list of ${kindOf(shape.items)}`;
  if (shape.properties === undefined) return shape.type ?? 'any';
  return `{ ${fieldsOf(shape).join(', ')} }`;
}

function fieldsOf({ properties = {}, required = [] }: Shape): string[] {
  return Object.keys(properties).map((name) => `\`${name}${required.includes(name) ? '' : '?'}\``);
}

function rowsOf(shape: Shape): string[] {
  return Object.entries(shape.properties ?? {}).map(([name, field]) => {
    const optional = shape.required?.includes(name) ? '' : '?';
    const about = field.description === undefined ? '' : `: ${field.description}`;
    return `| \`${name}${optional}\` | ${kindOf(field)}${about} |`;
  });
}

export function clientsPage(): Written {
  const answers = {
    context: 'context',
    input: 'the changed input of the tool',
    again: 'continue, with the reason',
  };
  const clients = Object.entries(HOOK_CLIENTS).map(([name, client]: [string, HookClient]) => {
    const rows = client.events.map(({ name: event, moment, answer, matcher }) => {
      const of = matcher === undefined ? '' : ` (tools \`${matcher.replaceAll('|', '\\|')}\`)`;
      return `| \`${event}\`${of} | ${moment} | ${answer === undefined ? '–' : answers[answer]} |`;
    });
    const samples = [
      ...new Set(client.events.flatMap(({ name: event, answer }) => (answer ? [{ event, answer }] : []))),
    ];
    const kinds = [...new Set(samples.map(({ answer }) => answer))].map((kind) => {
      const event = samples.find(({ answer }) => answer === kind)?.event ?? '';
      const value = kind === 'input' ? { prompt: '…' } : '…';
      return `- ${answers[kind]}: \`${JSON.stringify(client.write[kind](value, event))}\``;
    });
    return `### ${client.title}: \`throughline hook ${name}\`

Checked against ${client.checked}. At most ${client.contextTokens} tokens of context and ${MAX_ANSWER} characters in one answer.

| event | moment | answer |
|---|---|---|
${rows.join('\n')}

${kinds.join('\n')}

Limits:

${client.cannot.map((each) => `- It cannot ${each}.`).join('\n')}
`;
  });
  const tools = Object.entries(MCP_TOOLS).map(([name, { description, annotations, input, output }]) => {
    const reads = 'readOnlyHint' in annotations ? ' It only reads.' : '';
    return `### \`${name}\`

${description}${reads}

| argument | |
|---|---|
${rowsOf(listedSchema(input, 'input')).join('\n')}
${output === undefined ? '' : `\n| answer | |\n|---|---|\n${rowsOf(listedSchema(output, 'output')).join('\n')}\n`}`;
  });
  const page = `## Hook events

Generated from [src/agents/hooks/hook-table.ts](../../src/agents/hooks/hook-table.ts).

| moment | what the hook does |
|---|---|
${Object.entries(MOMENTS)
  .map(([name, does]) => `| ${name} | ${does} |`)
  .join('\n')}

${clients.join('\n')}
## MCP tools

Generated from [src/agents/mcp](../../src/agents/mcp/mcp-tools.ts). All definitions together have less than 1,300 tokens, identical in every
session. A field with \`?\` is optional. \`report\` also answers with \`structuredContent\`, which some clients show
instead of the text. An error is a text with a stable code and the next step. Claude Code loads \`context\` and \`report\` from
the start and finds the others by a search.

${tools.join('\n')}`;
  return { 'docs/reference/clients.md': endingWith('docs/reference/clients.md', page) };
}
