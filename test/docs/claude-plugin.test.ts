import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONNECT_CLIENTS } from '../../src/agents/connect/client-table.js';
import { connectedText } from '../../src/agents/connect/config-edit.js';
import { HOOK_CLIENTS } from '../../src/agents/hooks/hook-table.js';
import { MCP_TOOLS } from '../../src/agents/mcp/mcp-tools.js';
import { VERSION } from '../../src/version.js';
import { claudePlugin } from './claude-plugin-files.js';
import { ROOT } from './pages.js';

const FOLDER = `${ROOT}plugins/claude-code`;

/** The plugin is written from the code: `npm run docs` writes it, and these tests compare. */
describe('the plugin for Claude Code', () => {
  const files = claudePlugin(VERSION);

  it.each(Object.keys(files))('the file %s of the plugin is as the code has it', async (name) => {
    await expect(files[name]).toMatchFileSnapshot(`${FOLDER}/${name}`);
  });

  it('the folder of the plugin holds these files and no others', () => {
    const found = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => `${each.parentPath}/${each.name}`.slice(FOLDER.length).replace(/^\//, ''));
    expect(found.sort()).toEqual(Object.keys(files).sort());
  });

  it('the plugin takes every event that connecting takes, and both agents are asked for the result block', () => {
    const { hooks } = JSON.parse(files['hooks/hooks.json'] ?? '');
    expect(Object.keys(hooks)).toEqual(HOOK_CLIENTS.claude.events.map(({ name }) => name));
    for (const name of ['agents/implementer.md', 'agents/reviewer.md']) {
      expect(files[name]).toContain('BEGIN_DISPATCH_RESULT');
    }
  });

  it('the hooks and the MCP server of the plugin are those that connecting writes', () => {
    const where = { scope: 'project', project: '/app', home: '/home', env: {}, exists: () => false } as const;
    const [settings, servers] = CONNECT_CLIENTS.claude
      .files(where)
      .map((file) => JSON.parse(connectedText(file, undefined)));
    expect(JSON.parse(files['hooks/hooks.json'] ?? '')).toEqual({ hooks: settings.hooks });
    expect(JSON.parse(files['.mcp.json'] ?? '')).toEqual(servers);
  });

  it('the marketplace of the repository names the plugin, and its skill names only tools that there are', () => {
    const { plugins } = JSON.parse(readFileSync(`${ROOT}.claude-plugin/marketplace.json`, 'utf8'));
    expect(plugins).toMatchObject([{ name: 'throughline', source: './plugins/claude-code' }]);
    const skill = files['skills/throughline/SKILL.md'] ?? '';
    for (const name of Object.keys(MCP_TOOLS)) expect(skill).toContain(`\`${name}\``);
  });

  it('the head of each agent is YAML with plain values', () => {
    for (const name of ['agents/implementer.md', 'agents/reviewer.md']) {
      const [, head = ''] = files[name]?.split('---\n') ?? [];
      expect(head.trim().split('\n')).toEqual([
        expect.stringMatching(/^name: [a-z]+$/),
        // A colon and a space in a plain value are an error in YAML.
        expect.stringMatching(/^description: (?!.*(: | #))[A-Z].*\.$/),
      ]);
    }
  });
});
