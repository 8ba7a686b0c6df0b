import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { transcriptLines } from '../agents/hooks/hooks.js';
import { cli } from '../support/cli.js';
import { git, gitRepository } from '../support/git.js';
import { connectMcp, MCP_WAYS } from '../support/mcp-clients.js';
import { folderOfFile, folderOfTest } from '../support/of-file.js';
import { allDealtWith, newSession, systemOfFile } from '../support/system.js';

/** Hooks, the MCP server and `work` in a repository that nobody has configured. */

const root = await folderOfFile();
const system = await systemOfFile();
const AGENT = fileURLToPath(new URL('../support/scripted-agent.mjs', import.meta.url));
const [STDIO] = MCP_WAYS;
const env = { NATS_URL: system.url, XDG_STATE_HOME: join(root, 'state') };

/** A repository with a remote and a plan, and a second work tree beside it. */
async function repository() {
  const name = newSession('memory');
  const [shop, tree] = [join(root, name), join(root, `${name}-tree`)];
  await mkdir(shop);
  await writeFile(join(shop, 'tasks.md'), '- [ ] T001 Write the lexer\n- [ ] T002 Write the parser\n');
  gitRepository(shop);
  git(shop, ['remote', 'add', 'origin', `https://host.example/acme/${name}.git`]);
  git(shop, ['worktree', 'add', '--quiet', '-b', 'feature', tree]);
  return { session: `acme-${name}`, shop, tree };
}

async function hook(cwd: string, hook_event_name: string, more: object = {}): Promise<string> {
  const input = JSON.stringify({ session_id: 'one', cwd, prompt_id: 'p', hook_event_name, ...more });
  const { code, stdout, stderr } = await cli(['hook', 'claude', '--within', '20000'], { env, input });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout === '' ? '' : JSON.parse(stdout).hookSpecificOutput.additionalContext;
}

describe('one memory for each project', () => {
  it('hooks, the MCP server and work use the same session, project and plan, in every work tree', async () => {
    const { session, shop, tree } = await repository();
    // The MCP server is first here: it opens the session as a hook would.
    await using agent = await connectMcp(STDIO, { env, cwd: tree });
    expect((await agent.call('context', {})).text).toContain(session);
    expect((await agent.call('task', { action: 'next' })).text).toContain('T001');
    await agent.call('report', { task_id: 'T001', status: 'completed', summary: 'Lexer written' });
    const opened = await system.client.runs.status({ session });
    expect(opened).toMatchObject({
      session: { project: session },
      run: { next_task_id: expect.any(String) },
    });

    await hook(shop, 'UserPromptSubmit', { prompt: 'Make the package private' });
    const transcript_path = join(await folderOfTest(), 'transcript.jsonl');
    const tool_input = { file_path: join(shop, 'package.json') };
    await writeFile(
      transcript_path,
      transcriptLines({ hook_event_name: 'PostToolUse', tool_name: 'Edit', tool_input }),
    );
    const last_assistant_message = 'The package is private.';
    await hook(shop, 'Stop', { transcript_path, last_assistant_message, stop_hook_active: false });
    await allDealtWith(system.ports);
    const start = await hook(shop, 'SessionStart', { source: 'startup' });
    expect(start).toContain(`[Memory of ${session}`);
    // What was done on this branch comes first.
    expect(start).toMatch(/branch main:[\s\S]*\nLast: [^\n]*The package is private[\s\S]*Lexer written/);

    const agents = `${process.execPath} ${AGENT} ${shop}`;
    await writeFile(join(shop, 'script.json'), '{}');
    const args = ['work', '--implementer', agents, '--reviewer', agents];
    const { code, stdout, stderr } = await cli(args, { env, cwd: tree });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain(`of session ${session}`);
  });
});
