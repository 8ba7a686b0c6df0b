import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/agents/mcp/mcp-server.js';
import { type ListedSchema, listedSchema, MCP_TOOLS } from '../../src/agents/mcp/mcp-tools.js';
import { ROOT } from './pages.js';

/** A page that is written from the code: `npm run docs` writes it, and this test compares. */

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

describe('the reference of the MCP server', () => {
  it('the reference gives every tool with what it takes and answers', async () => {
    const tools = Object.entries(MCP_TOOLS).map(([name, { description, annotations, input, output }]) => {
      const reads = 'readOnlyHint' in annotations ? ' It only reads.' : '';
      return `### \`${name}\`

${description}${reads}

| takes | |
|---|---|
${rowsOf(listedSchema(input, 'input')).join('\n')}
${output === undefined ? '' : `\n| answers | |\n|---|---|\n${rowsOf(listedSchema(output, 'output')).join('\n')}\n`}`;
    });
    const resources = Object.entries(RESOURCES).map(
      ([name, { description }]) => `| \`throughline://${name}\` | ${description} |`,
    );
    const page = `# MCP server

What \`throughline mcp\` offers to a client of the Model Context Protocol. This page is written from
[src/agents/mcp](../../src/agents/mcp/mcp-tools.ts). [Give an agent the memory by MCP](../how-to/use-mcp.md) says how to
set it up.

The definitions of all tools together take less than 1,300 tokens, and are the same byte for byte in every session. A field
with \`?\` may be left out. An answer is a text that can be read alone; \`report\` and \`explain\` give the same as
\`structuredContent\`, which some clients show in place of the text. An error is a text with a stable code that says what to
do next. Claude Code has \`context\` and \`report\` at hand from the start, and finds the others by a search.

## Tools

${tools.join('\n')}
## Resources

Each is text.

| resource | what it holds |
|---|---|
${resources.join('\n')}

## Prompts

\`implementer\` and \`reviewer\` give the prompt of that role for a \`task\`; \`prompt\` says what is to be done, where the board
does not.

## Clients

A test runs the official client SDKs against it: 1.x with the protocol of 2025-11-25, and 2.x with that and with
2026-07-28, each on standard input and by HTTP.
`;
    await expect(page).toMatchFileSnapshot(`${ROOT}docs/reference/mcp.md`);
  });
});
