import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LINES_WANTED } from '../../src/memory/traces/labelled-lines.js';
import { transcriptLines } from '../agents/hooks/hooks.js';
import { cli } from '../support/cli.js';
import { folderOfTest } from '../support/of-file.js';
import { allDealtWith, newSession, systemOfFile } from '../support/system.js';

const system = await systemOfFile();

/** A conversation with Claude Code, each hook a process, as the client runs them. */
async function conversation(session: string, id = 'c0ffee00-0000') {
  const state = await folderOfTest();
  const env = { NATS_URL: system.url, THROUGHLINE_SESSION: session, XDG_STATE_HOME: state };
  const transcript_path = join(state, 'transcript.jsonl');
  const did = (tool_name: string, tool_input: object) =>
    appendFile(transcript_path, transcriptLines({ hook_event_name: 'PostToolUse', tool_name, tool_input }));
  const hook = async (hook_event_name: string, more: object = {}) => {
    const payload = {
      session_id: id,
      cwd: '/shop',
      prompt_id: 'p1',
      transcript_path,
      hook_event_name,
      ...more,
    };
    const input = JSON.stringify(payload);
    const { code, stdout, stderr } = await cli(['hook', 'claude', '--within', '20000'], { env, input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const contextOf = (answer: string): string =>
    answer === '' ? '' : JSON.parse(answer).hookSpecificOutput.additionalContext;
  return {
    hook,
    say: async (prompt: string, more: object = {}) =>
      contextOf(await hook('UserPromptSubmit', { prompt, ...more })),
    edit: (file: string) => did('Edit', { file_path: `/shop/${file}` }),
    run: (command: string) => did('Bash', { command }),
    stop: (last_assistant_message: string, more: object = {}) =>
      hook('Stop', { last_assistant_message, stop_hook_active: false, ...more }),
    start: async () => contextOf(await hook('SessionStart', { source: 'startup' })),
  };
}

const ANSWER = `The package is private now: \`package.json\` has \`"private": true\`, and the tests pass.

Decided: use node:test, no jest

Open: should generated files end with a semicolon?`;

describe('an everyday turn', () => {
  it('the next session starts with what was done, decided and left open', async () => {
    const session = newSession('turn');
    const first = await conversation(session);
    expect(await first.start()).toBe(LINES_WANTED);
    await first.say('Make the package private');
    await first.edit('package.json');
    await first.run('npm test');
    expect(await first.stop(ANSWER)).toBe('');
    await allDealtWith(system.ports);

    const next = await conversation(session, 'another');
    const text = await next.start();
    const [head, ...lines] = text.split('\n');
    expect(head).toMatch(/^\[Memory of [\w-]+, \d{1,2} \w{3}\]$/);
    expect(lines.join('\n')).toMatch(
      /^Last: Make the package private: The package is private now[^\n]* package\.json[^\n]* \[claude, [^\]]+\]/m,
    );
    expect(text).toMatch(/^Decided: .*node:test, no jest/m);
    expect(text).toMatch(/^Open: .*should generated files end with a semicolon\?/m);
    expect(text).not.toMatch(/proposals|Session state|iteration|[{}]/);
    expect(text.length).toBeLessThanOrEqual(425 * 4);
  });
});
