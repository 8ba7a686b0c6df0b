import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../scripts/docs/pages.js';
import { PLUGINS, type PluginClient, pluginFiles } from '../../scripts/docs/plugin-files.js';
import { SKILL } from '../../src/agents/connect/client-table.js';
import { HOOK_CLIENTS } from '../../src/agents/hooks/hook-table.js';
import { MCP_TOOLS } from '../../src/agents/mcp/mcp-tools.js';
import { VERSION } from '../../src/version.js';

describe('the packages for clients', () => {
  const files = pluginFiles(VERSION);

  it('the folder of the packages holds these files and no others', () => {
    const found = readdirSync(`${ROOT}plugins`, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => `${each.parentPath}/${each.name}`.slice(ROOT.length));
    expect(found.sort()).toEqual(
      Object.keys(files)
        .filter((name) => name.startsWith('plugins/'))
        .sort(),
    );
  });

  it.each(Object.keys(PLUGINS) as PluginClient[])(
    'the package for %s takes every event that connecting takes',
    (client) => {
      const { hooks } = JSON.parse(files[`plugins/${PLUGINS[client]}/hooks/hooks.json`] ?? '');
      expect(Object.keys(hooks)).toEqual(HOOK_CLIENTS[client].events.map(({ name }) => name));
      expect(JSON.stringify(hooks)).toContain(`"throughline hook ${client}"`);
    },
  );

  it('every marketplace names a package that is there', () => {
    for (const [name, folder] of [
      ['.claude-plugin', 'claude-code'],
      ['.agents/plugins', 'codex'],
      ['.github/plugin', 'copilot'],
    ]) {
      const { plugins } = JSON.parse(readFileSync(`${ROOT}${name}/marketplace.json`, 'utf8'));
      const [{ source }] = plugins;
      expect(source.path ?? source).toBe(`./plugins/${folder}`);
    }
  });

  it('the skill names every tool of the MCP server', () => {
    for (const name of Object.keys(MCP_TOOLS)) expect(SKILL).toContain(`\`${name}\``);
  });

  it('the agents for Claude Code have a head of plain YAML, and are asked for the result block', () => {
    for (const name of ['implementer', 'reviewer']) {
      const text = files[`plugins/claude-code/agents/${name}.md`] ?? '';
      expect(text).toContain('BEGIN_DISPATCH_RESULT');
      const [, head = ''] = text.split('---\n');
      expect(head.trim().split('\n')).toEqual([
        expect.stringMatching(/^name: [a-z]+$/),
        // A colon and a space in a plain value are an error in YAML.
        expect.stringMatching(/^description: (?!.*(: | #))[A-Z].*\.$/),
      ]);
    }
  });
});
