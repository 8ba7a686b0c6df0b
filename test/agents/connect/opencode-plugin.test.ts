import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OPENCODE_PLUGIN } from '../../../src/agents/connect/opencode-plugin.js';
import { HOOK_CLIENTS } from '../../../src/agents/hooks/hook-table.js';
import { folderOfTest } from '../../support/of-file.js';

type Handler = (input: unknown, output?: unknown) => Promise<void>;

interface Call {
  readonly hook_event_name: string;
  readonly stop_hook_active?: boolean;
}

const PARENT = 'ses_main';
const CHILD = 'ses_child';

/** The plugin, in an opencode that answers nothing by itself and a hook that sends back whom it may. */
async function loaded() {
  const folder = await folderOfTest();
  const log = join(folder, 'calls');
  writeFileSync(log, '');
  const shim = `#!/bin/sh
payload=$(cat)
printf '%s\\n' "$payload" >> '${log}'
case "$payload" in
  *'"stop_hook_active":true'*) ;;
  *'"session.idle"'*|*'"subagent.stop"'*) printf '{"again":"Where is it?"}' ;;
esac
`;
  writeFileSync(join(folder, 'throughline'), shim);
  chmodSync(join(folder, 'throughline'), 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(folder, 'plugin.mjs');
  writeFileSync(file, OPENCODE_PLUGIN);
  const { Throughline } = await import(pathToFileURL(file).href);

  const prompts: { readonly how: string; readonly request: unknown }[] = [];
  let onPrompt: (id: string, text: string) => Promise<void> = async () => {};
  const asked = (how: string) => async (request: never) => {
    prompts.push({ how, request });
    const { path, body } = request as {
      path: { id: string };
      body: { parts: [{ text: string }] };
    };
    await onPrompt(path.id, body.parts[0].text);
  };
  const session = {
    get: async ({ path: { id } }: { path: { id: string } }) => ({
      data: id === CHILD ? { parentID: PARENT } : {},
    }),
    prompt: asked('prompt'),
    promptAsync: asked('promptAsync'),
  };
  const plugin: Record<string, Handler> = await Throughline({ client: { session }, directory: folder });
  let messages = 0;
  const at = {
    prompts,
    on(work: typeof onPrompt) {
      onPrompt = work;
    },
    run: (name: string, input: unknown, output?: unknown) => plugin[name]?.(input, output),
    event: (type: string, properties: object) => plugin.event?.({ event: { type, properties } }),
    prompt: (id: string, text: string, agent = 'build') => {
      messages += 1;
      const input = { sessionID: id, messageID: `msg_${messages}`, agent };
      return at.run('chat.message', input, { message: {}, parts: [{ type: 'text', text }] });
    },
    /** One message of an agent: its text, and how it finished. */
    async says(id: string, text: string, more: object = { finish: 'stop' }) {
      messages += 1;
      const info = { id: `msg_${messages}`, sessionID: id, role: 'assistant', ...more };
      await at.event('message.updated', { info: { ...info, finish: undefined } });
      await at.run('experimental.text.complete', { sessionID: id, messageID: info.id }, { text });
      await at.event('message.updated', { info });
    },
    idle: (id = PARENT) => at.event('session.idle', { sessionID: id }),
    /** The hooks that were run, when all of them have ended. */
    async calls(): Promise<Call[]> {
      await at.run('dispose', undefined);
      return readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    },
    named: async (name: string) => (await at.calls()).filter((call) => call.hook_event_name === name),
    settled: () => vi.waitFor(async () => expect(prompts).toHaveLength(1)),
  };
  // Hooks that still run would write into the folder.
  onTestFinished(() => at.run('dispose', undefined));
  return at;
}

describe('the plugin of opencode', () => {
  it('an agent at work is not asked for its result: only at the end of its turn, once', async () => {
    const at = await loaded();
    await at.prompt(PARENT, 'Do task 2.1');
    await at.says(PARENT, 'First I {read} the file.', { finish: 'tool-calls' });
    await at.says(PARENT, 'Done.');
    expect(at.prompts).toEqual([]);
    await at.idle();
    await at.idle();
    await at.settled();
    expect(at.prompts).toEqual([
      {
        how: 'promptAsync',
        request: {
          path: { id: PARENT },
          body: { agent: 'build', parts: [{ type: 'text', text: 'Where is it?' }] },
        },
      },
    ]);
    await at.prompt(PARENT, 'Where is it?');
    await at.says(PARENT, 'I have none.');
    await at.idle();
    const idle = await at.named('session.idle');
    expect(idle).toEqual([
      expect.objectContaining({ last_assistant_message: 'Done.', session_id: PARENT }),
      expect.objectContaining({ last_assistant_message: 'I have none.', stop_hook_active: true }),
    ]);
    expect(at.prompts).toHaveLength(1);
  });

  it.each([
    ['was interrupted', { error: { name: 'MessageAbortedError' } }],
    ['failed in its last request', { finish: 'stop', error: { name: 'APIError' } }],
    ['was compacted', { finish: 'stop', summary: true }],
  ])('an agent that %s is not asked', async (_, how) => {
    const at = await loaded();
    await at.prompt(PARENT, 'Do task 2.1');
    await at.says(PARENT, 'First I read the file.', { finish: 'tool-calls' });
    await at.says(PARENT, 'And then {', how);
    await at.idle();
    expect(await at.named('session.idle')).toEqual([]);
    expect(at.prompts).toEqual([]);
  });

  it('an agent is not asked when the user has asked something else meanwhile', async () => {
    const at = await loaded();
    await at.prompt(PARENT, 'Do task 2.1');
    await at.says(PARENT, 'Done.');
    await at.idle();
    await at.prompt(PARENT, 'And now task 3');
    expect(await at.named('session.idle')).toHaveLength(1);
    expect(at.prompts).toEqual([]);
  });

  it('a sub-agent is asked before its caller goes on, as the agent that it is, and its answer is added', async () => {
    const at = await loaded();
    await at.prompt(PARENT, 'Do task 2.1');
    await at.prompt(CHILD, 'Write the printer', 'implementer');
    await at.says(CHILD, 'Written.');
    await at.idle(CHILD);
    at.on(async (id, text) => {
      await at.prompt(id, text, 'implementer');
      await at.says(id, 'Here it is: {}');
    });
    const output = { output: 'Written.', metadata: { sessionId: CHILD } };
    await at.run('tool.execute.after', { tool: 'task', sessionID: PARENT, args: {} }, output);
    expect(output.output).toBe('Written.\n\nHere it is: {}');
    expect(at.prompts).toEqual([
      {
        how: 'prompt',
        request: {
          path: { id: CHILD },
          body: { agent: 'implementer', parts: [{ type: 'text', text: 'Where is it?' }] },
        },
      },
    ]);
    expect(await at.named('session.idle')).toEqual([]);
    const base = { session_id: PARENT, agent_id: CHILD, agent_type: 'implementer' };
    expect(await at.named('subagent.stop')).toEqual([
      expect.objectContaining({ ...base, last_assistant_message: 'Written.' }),
      expect.objectContaining({
        ...base,
        last_assistant_message: 'Here it is: {}',
        stop_hook_active: true,
      }),
    ]);
  });

  it('a sub-agent that cannot be asked again leaves its answer as it is', async () => {
    const at = await loaded();
    await at.prompt(CHILD, 'Write the printer', 'implementer');
    await at.says(CHILD, 'Written.');
    at.on(async () => {
      throw new Error('no model');
    });
    const output = { output: 'Written.', metadata: { sessionId: CHILD } };
    await at.run('tool.execute.after', { tool: 'task', sessionID: PARENT, args: {} }, output);
    expect(output.output).toBe('Written.');
  });

  it('every event that it sends is one of the table', () => {
    const sent = [...OPENCODE_PLUGIN.matchAll(/send\('([^']+)'/g)].map(([, name]) => name);
    expect([...new Set(sent)].sort()).toEqual(HOOK_CLIENTS.opencode.events.map(({ name }) => name).sort());
  });
});
