import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Role } from '../../contracts/kinds.js';
import { stablePrefix } from '../../prompt/role-contract.js';
import { isObject } from '../../shared/is-object.js';
import { claudeHooks, mcpServer } from './client-table.js';
import { unlessTooDeep } from './json-entries.js';

/** What `throughline connect` writes at the top of a project: what its agents work on. */
export interface ProjectFields {
  readonly session?: string;
  readonly project?: string;
  /** Path of a plan, from the folder of the file. */
  readonly plan?: string;
}

const FIELDS = ['session', 'project', 'plan'] as const;

/**
 * The text of the file: fields that are given are set, and defaults fill in those that are missing. The rest stays.
 *
 * @throws ThroughlineError `config_invalid` for a file that is not a JSON object
 */
export function projectText(
  text: string | undefined,
  given: ProjectFields,
  defaults: ProjectFields,
  path: string,
): string {
  let result = text === undefined || text.trim() === '' ? '{}\n' : text;
  const errors: ParseError[] = [];
  const there: unknown = unlessTooDeep(() => parse(result, errors));
  if (!isObject(there) || errors.length > 0) {
    throw new ThroughlineError(
      'config_invalid',
      `${path}: it is not a JSON object: write {"session": "NAME"}`,
    );
  }
  for (const field of FIELDS) {
    const value = given[field] ?? there[field] ?? defaults[field];
    if (value !== undefined && value !== there[field]) result = withField(result, field, value);
  }
  return result;
}

/** The text with our fields as they were in a copy from before the first client: what else has changed stays. */
export function projectTextBefore(text: string, copy: string): string {
  const [now, before]: unknown[] = [parse(text), parse(copy)];
  // Broken by hand since.
  if (!isObject(now) || !isObject(before)) return text;
  const fields = FIELDS.filter((field) => now[field] !== before[field]);
  const result = fields.reduce((rest, field) => withField(rest, field, before[field]), text);
  return isDeepStrictEqual(parse(result), before) ? copy : result;
}

function withField(text: string, field: string, value: unknown): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol };
  return applyEdits(text, modify(text, [field], value, { formattingOptions }));
}

/** Whether a file holds only what `throughline connect` writes: then it goes with the last client. */
export function isOnlyProject(text: string): boolean {
  const value: unknown = parse(text);
  return isObject(value) && Object.keys(value).every((key) => FIELDS.some((field) => field === key));
}

/** The agents of the plugin, with what Claude Code reads to choose one. */
const AGENTS = {
  implementer:
    'Implements one task of the plan. Name the task id in its prompt, and it gets what the session knows about that task.',
  reviewer:
    'Reviews the work on one task of the plan. Name the task id in its prompt, and it gets what the session knows about that task.',
} as const satisfies Partial<Record<Role, string>>;

/**
 * The plugin for Claude Code: the same hooks and MCP server that `throughline connect claude` writes, and two agents.
 *
 * @returns by path inside the plugin's folder, the text of each file
 */
export function claudePlugin(version: string): Readonly<Record<string, string>> {
  const { path, value } = mcpServer();
  const manifest = {
    name: 'throughline',
    version,
    description:
      'The memory that coding agents share: results and traces are kept, each agent gets what its task needs.',
    license: 'MIT',
  };
  const hooks = Object.entries(claudeHooks().items).map(([event, group]) => [event, [group]]);
  const agents = Object.entries(AGENTS).map(([name, description]) => [
    `agents/${name}.md`,
    `---\nname: ${name}\ndescription: ${description}\n---\n\n${agentText(name as keyof typeof AGENTS)}\n`,
  ]);
  return {
    '.claude-plugin/plugin.json': json(manifest),
    'hooks/hooks.json': json({ hooks: Object.fromEntries(hooks) }),
    '.mcp.json': json({ [path[0]]: { [path[1]]: value } }),
    ...Object.fromEntries(agents),
  };
}

function agentText(role: keyof typeof AGENTS): string {
  return `${stablePrefix(role)}

End your last message with this result block: it is read from there, and what is not in it is not kept. Where something is
missing in your prompt, ask the tool \`context\` of the MCP server throughline for your task.`;
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
