import { parse as parseToml } from 'smol-toml';
import { CONNECT_CLIENTS, type ConnectClientName, SKILL } from '../../src/agents/connect/client-table.js';
import { connectedText } from '../../src/agents/connect/config-edit.js';
import type { Role } from '../../src/contracts/kinds.js';
import { stablePrefix } from '../../src/contracts/kinds.js';

/** The agents of the plugin for Claude Code, with the descriptions by which it chooses one. */
const AGENTS = {
  implementer:
    'Implements one task of the plan. Name the task id in its prompt, and it gets what the session knows about that task.',
  reviewer:
    'Reviews the work on one task of the plan. Name the task id in its prompt, and it gets what the session knows about that task.',
} as const satisfies Partial<Record<Role, string>>;

const SKILL_FILE = `---
name: throughline
description: The memory that the agents of this project share. Use it before work on a task, when a task is done, and for decisions, questions and answers.
---

${SKILL}
`;

const ABOUT = {
  description:
    'The memory that coding agents share: results and traces are kept, each agent gets what its task needs.',
  author: { name: 'Throughline' },
  license: 'MIT',
};
const SERVERS = { throughline: { command: 'throughline', args: ['mcp'] } };

/** Clients with a package, with the folder of it in `plugins`. */
export const PLUGINS = {
  claude: 'claude-code',
  codex: 'codex',
  gemini: 'gemini',
  copilot: 'copilot',
} as const;
export type PluginClient = keyof typeof PLUGINS;

/**
 * Generates the packages for all clients: the hooks and MCP server that `throughline connect` writes, the skill, and the
 * marketplaces that name the packages.
 *
 * @returns the text of each file, by its path in the repository
 */
export function pluginFiles(version: string): Readonly<Record<string, string>> {
  const manifest = { name: 'throughline', version, ...ABOUT };
  const own: Readonly<Record<PluginClient, Readonly<Record<string, string>>>> = {
    claude: {
      '.claude-plugin/plugin.json': json(manifest),
      '.mcp.json': json({ mcpServers: SERVERS }),
      ...Object.fromEntries(
        Object.entries(AGENTS).map(([name, description]) => [
          `agents/${name}.md`,
          `---\nname: ${name}\ndescription: ${description}\n---\n\n${agentText(name as keyof typeof AGENTS)}\n`,
        ]),
      ),
    },
    codex: {
      '.codex-plugin/plugin.json': json({ ...manifest, skills: './skills/', mcpServers: './.mcp.json' }),
      '.mcp.json': json({ mcpServers: SERVERS }),
    },
    gemini: { 'gemini-extension.json': json({ ...manifest, mcpServers: SERVERS }) },
    // It starts the server of a plugin in the folder of the plugin, where no project is: so there is none.
    copilot: { 'plugin.json': json({ ...manifest, hooks: './hooks/hooks.json' }) },
  };
  const packages = Object.entries(own).flatMap(([client, files]) => {
    const name = client as PluginClient;
    const hooks = { ...(name === 'copilot' && { version: 1 }), hooks: hooksOf(name) };
    const all = { ...files, 'hooks/hooks.json': json(hooks), 'skills/throughline/SKILL.md': SKILL_FILE };
    return Object.entries(all).map(([path, text]) => [`plugins/${PLUGINS[name]}/${path}`, text]);
  });
  return { ...Object.fromEntries(packages), ...marketplaces() };
}

function marketplaces(): Readonly<Record<string, string>> {
  const named = (source: unknown, more: object = {}) => [{ name: 'throughline', source, ...more }];
  const owned = { name: 'throughline', owner: { name: 'Throughline' } };
  const { description } = ABOUT;
  const local = { source: 'local', path: './plugins/codex' };
  const policy = { installation: 'AVAILABLE', authentication: 'ON_INSTALL' };
  return {
    '.claude-plugin/marketplace.json': json({
      ...owned,
      description: 'The memory that coding agents share',
      plugins: named('./plugins/claude-code', ABOUT),
    }),
    '.agents/plugins/marketplace.json': json({
      name: 'throughline',
      plugins: named(local, { policy, category: 'Productivity' }),
    }),
    '.github/plugin/marketplace.json': json({
      ...owned,
      plugins: named('./plugins/copilot', { description }),
    }),
  };
}

/** Returns the hooks that `throughline connect` writes for a client. */
function hooksOf(client: ConnectClientName): unknown {
  const places = { scope: 'project', project: '/app', home: '/home', env: {} } as const;
  const where = { ...places, exists: () => false, read: () => undefined };
  const [file] = CONNECT_CLIENTS[client].files(where);
  if (file === undefined) throw new Error(`${client} has no file with hooks`);
  const text = connectedText(file, undefined);
  return (file.kind === 'block' ? parseToml(text) : JSON.parse(text)).hooks;
}

function agentText(role: keyof typeof AGENTS): string {
  return `${stablePrefix(role)}

End your last message with this result block: it is read from there, and what is not in it is not kept. Where something is
missing in your prompt, ask the tool \`context\` of the MCP server throughline for your task.`;
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
