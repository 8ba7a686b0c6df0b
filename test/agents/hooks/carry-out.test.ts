import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HOOK_CLIENTS } from '../../../src/agents/hooks/hook-table.js';
import { stateDirOf } from '../../../src/config/config.js';
import { setPaused } from '../../../src/config/connected-projects.js';
import type { ErrorCode } from '../../../src/contracts/error-codes.js';
import { stablePrefix } from '../../../src/contracts/kinds.js';
import type { TraceEntryInput } from '../../../src/contracts/trace-entry.js';
import { LINES_WANTED } from '../../../src/memory/traces/labelled-lines.js';
import { connectFolder } from '../../support/connected.js';
import { CLIENT_NAMES, hookPlace, payloadsOf } from './hooks.js';

const RESULT =
  'BEGIN_DISPATCH_RESULT\n{"task_id":"1","status":"completed","summary":"s"}\nEND_DISPATCH_RESULT';
const base = { session_id: 's1', cwd: '/p' };
const stop = (message: string, more: object = {}) => ({
  ...base,
  hook_event_name: 'SubagentStop',
  stop_hook_active: false,
  agent_id: 'a1',
  agent_type: 'implementer',
  last_assistant_message: message,
  ...more,
});
const tool = (command: string) => ({
  ...base,
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command },
  tool_response: {},
});

const mainStop = (last_assistant_message: string, more: object = {}) => ({
  ...base,
  hook_event_name: 'Stop',
  stop_hook_active: false,
  last_assistant_message,
  ...more,
});

/** A recorded transcript, as lines with their ends, and the event at the end of its turn. */
function transcriptOf(name: 'claude' | 'codex' | 'gemini') {
  const file = new URL(`../../fixtures/hooks/${name}.transcript.jsonl`, import.meta.url);
  const lines = readFileSync(file, 'utf8').split(/(?<=\n)/);
  const stop = payloadsOf(name).find((payload) => /^(?:Stop|AfterAgent)$/.test(payload.hook_event_name));
  return { lines, stop, message: HOOK_CLIENTS[name].fields.message };
}

function entriesIn({ asked }: ReturnType<typeof hookPlace>): TraceEntryInput[] {
  return asked.flatMap(({ body }) => (body as { entries?: TraceEntryInput[] }).entries ?? []);
}

/** Everything that lies on the disk, as one text. */
function onDisk(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => readFileSync(join(each.parentPath, each.name), 'utf8'))
    .join('\n');
}

describe('an agent that stops', () => {
  it('the last result block is published with a result_id, and the same again counts once', async () => {
    const place = hookPlace();
    expect(await place.run('claude', stop(`old ${RESULT.replace('"1"', '"0"')} new ${RESULT}`))).toBe('');
    await place.run('claude', stop(`other words ${RESULT}`));
    await place.run('claude', stop(RESULT, { agent_id: 'a2' }));
    const ids = place.published.map((body) => /"result_id":"([^"]+)"/.exec(body)?.[1]);
    expect(place.published[0]).toContain('"task_id":"1"');
    expect(ids[0]).toMatch(/^claude-[\w-]{32}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
    expect(place.asked.filter(({ subject }) => subject === 'dispatch.demo.implementer')).toHaveLength(3);
  });

  it('labelled lines may follow the block of a result, and are stored with it', async () => {
    const place = hookPlace();
    await place.run('claude', stop(`Done.\n${RESULT}\n**Decided**: keep tabs\n  in every file\n`));
    expect(place.published[0]).toMatch(/"object":"keep tabs in every file","tags":\["decision"\]\}\]/);
  });

  it.each(['gemini', 'copilot'] as const)(
    'the same words in a later turn of %s count again, and in the same one once',
    async (client) => {
      const place = hookPlace();
      const [prompt, end] =
        client === 'gemini' ? ['BeforeAgent', 'AfterAgent'] : ['UserPromptSubmit', 'Stop'];
      const ended = {
        ...base,
        hook_event_name: end,
        prompt_response: RESULT,
        last_assistant_message: RESULT,
      };
      for (const _ of [1, 2]) {
        await place.run(client, { ...base, hook_event_name: prompt, prompt: 'review it' });
        for (const __ of [1, 2]) await place.run(client, ended);
      }
      const ids = place.published.map((body) => /"result_id":"([^"]+)"/.exec(body)?.[1]);
      expect(ids).toEqual([ids[0], ids[0], ids[2], ids[2]]);
      expect(ids[2]).not.toBe(ids[0]);
    },
  );

  it('an implementer without a result is sent back once, with the contract and why', async () => {
    const place = hookPlace();
    const first = JSON.parse(await place.run('claude', stop('Done.')));
    expect(first).toEqual({
      decision: 'block',
      reason: expect.stringMatching(
        /does not end in a result block[\s\S]*BEGIN_DISPATCH_RESULT[\s\S]*task_id, status/,
      ),
    });
    for (let round = 0; round < 5; round += 1) expect(await place.run('claude', stop('Done.'))).toBe('');
    expect(await place.run('claude', stop('Done.', { agent_id: 'a2' }))).toContain('block');
  });

  it('an agent that another hook has sent back is not sent back again', async () => {
    const place = hookPlace();
    expect(await place.run('claude', stop('Done.', { stop_hook_active: true }))).toBe('');
    expect(await place.run('codex', stop('Done.', { stop_hook_active: true }))).toBe('');
  });

  it('an unreadable block sends the agent back with what is wrong; the second time it is published as it is', async () => {
    const place = hookPlace();
    const bad = 'BEGIN_DISPATCH_RESULT\n{"status":"completed"}\nEND_DISPATCH_RESULT';
    expect(await place.run('claude', stop(bad))).toContain('task_id');
    expect(place.published).toEqual([]);
    expect(await place.run('claude', stop(bad))).toBe('');
    expect(place.published).toEqual([expect.stringContaining('"status":"completed"')]);
  });

  it('an agent whose result is larger than the server takes is sent back with the limit and the fix', async () => {
    const place = hookPlace({ maxBytes: 10_000 });
    const large = RESULT.replace('"s"', JSON.stringify('x '.repeat(10_000)));
    const { reason } = JSON.parse(await place.run('claude', stop(large)));
    expect(reason).toMatch(/more than the 10000 bytes that the server takes. To fix it: shorten/);
    expect(await place.run('claude', stop(RESULT))).toBe('');
    expect(place.published).toHaveLength(1);
  });

  it.each(['UserPromptSubmit', 'SessionStart'])(
    'an agent that cannot be sent back is told at %s that its result was not stored, once',
    async (event) => {
      const place = hookPlace({ maxBytes: 10_000 });
      const large = RESULT.replace('"s"', JSON.stringify('x '.repeat(10_000)));
      expect(await place.run('claude', stop(large, { agent_type: 'helper' }))).toBe('');
      // It is not the fault of another agent.
      expect(await place.run('claude', stop(RESULT, { agent_id: 'a2' }))).toBe('');
      const next = { ...base, hook_event_name: event, prompt: 'go on', source: 'resume' };
      const told = 'implementer was not stored: dispatch.demo.implementer: more than the 10000 bytes';
      expect(await place.run('claude', next)).toContain(told);
      expect(await place.run('claude', next)).not.toContain(told);
    },
  );

  it('an agent of another name owes nothing, and its example in a fence is not published', async () => {
    const place = hookPlace();
    expect(await place.run('claude', stop('Done.', { agent_type: 'Explore' }))).toBe('');
    const example = '```json\n{"task_id":"1","status":"completed"}\n```';
    expect(await place.run('claude', stop(example, { agent_type: 'Explore' }))).toBe('');
    expect(place.published).toEqual([]);
    await place.run('claude', stop(RESULT, { agent_type: 'Explore' }));
    expect(place.published).toHaveLength(1);
  });

  it('a review of an agent without a role is published as a review', async () => {
    const place = hookPlace();
    const review = 'BEGIN_DISPATCH_RESULT {"task_id":"1","assessment":"approved"} END_DISPATCH_RESULT';
    await place.run('claude', stop(review, { agent_type: 'general-purpose' }));
    expect(place.asked.map(({ subject }) => subject)).toContain('dispatch.demo.reviewer');
  });

  it('without a server it is not sent back, and its result goes out with the next hook', async () => {
    const place = hookPlace();
    place.setDown(true);
    expect(await place.run('claude', stop('Done.'))).toBe('');
    expect(await place.run('claude', stop(RESULT))).toBe('');
    expect(place.lines).toEqual(Array(2).fill(expect.stringContaining('unavailable: no server')));
    place.setDown(false);
    await place.run('claude', { ...base, hook_event_name: 'SessionStart', source: 'startup' });
    expect(place.published).toEqual([expect.stringContaining('"task_id":"1"')]);
  });

  it.each([
    'mcp__throughline__report',
    'mcp__plugin_throughline_throughline__report',
    'mcp_throughline_report',
    'throughline_report',
  ])('a sub-agent that has handed its result in by the tool %s is not sent back', async (name) => {
    const place = hookPlace();
    const report = { ...tool('x'), tool_name: name, tool_input: { task_id: '1' }, agent_id: 'a1' };
    await place.run('claude', { ...report, tool_response: { content: [], isError: true } });
    await place.run('claude', { ...report, agent_id: 'a2' });
    expect(await place.run('claude', stop('Done.', { agent_id: 'a2' }))).toBe('');
    expect(await place.run('claude', stop('Done.'))).toContain('your result is missing');
  });

  it('entries that are too many for one message go in several, and none is lost', async () => {
    const place = hookPlace({ maxBytes: 30_000 });
    place.setDown(true);
    const commands = Array.from({ length: 9 }, (_, index) => `${index} ${'x'.repeat(9000)}`);
    for (const command of commands) await place.run('claude', tool(command));
    await place.run('claude', mainStop('Done.'));
    place.setDown(false);
    await place.run('claude', { ...base, hook_event_name: 'SessionStart', source: 'startup' });
    const sent = JSON.stringify(place.asked);
    for (const command of commands) expect(sent).toContain(command);
    expect(
      readdirSync(place.stateDir, { recursive: true }).filter((name) => /json$/.test(String(name))),
    ).toEqual([]);
  });

  it('a client whose stop event has no message is asked for the last one that it told', async () => {
    const place = hookPlace();
    for (const payload of payloadsOf('cursor').filter(({ hook_event_name: event }) =>
      /^(after|stop)/.test(event),
    ))
      await place.run('cursor', payload);
    expect(place.published).toEqual([expect.stringContaining('"task_id":"2.1"')]);
  });

  it('the last message of Copilot CLI is read from its transcript, once the client has written it', async () => {
    const place = hookPlace({ withinMs: 20_000 });
    const transcript_path = join(place.stateDir, 'events.jsonl');
    const line = (type: string, data: object, more: object = {}) =>
      `${JSON.stringify({ type, data, ...more })}\n`;
    const started = (at: string) => line('hook.start', { hookType: 'agentStop' }, { timestamp: at });
    const said = (content: string, more?: object) => line('assistant.message', { content }, more);
    const timestamp = '2026-11-26T10:00:01.000Z';
    const stopping = {
      ...base,
      hook_event_name: 'Stop',
      stop_reason: 'end_turn',
      transcript_path,
      timestamp,
    };
    // In the first turn there is no file yet.
    const ended = place.run('copilot', stopping);
    await sleep(50);
    // The end of an earlier hook is not written yet either.
    writeFileSync(transcript_path, said('An earlier answer') + started('2026-11-26T10:00:00.500Z'));
    await sleep(50);
    appendFileSync(transcript_path, said(RESULT) + said('of a sub-agent', { agentId: 'a1' }));
    appendFileSync(transcript_path, started(timestamp));
    await ended;
    expect(place.published).toEqual([expect.stringContaining('"task_id":"1"')]);
    expect(place.lines).toEqual([]);
  });

  it('a transcript that is never written costs no more than the time of the hook', async () => {
    const place = hookPlace();
    const transcript_path = join(place.stateDir, 'missing');
    await place.run('copilot', { ...base, hook_event_name: 'Stop', transcript_path });
    expect(place.published).toEqual([]);
    expect(place.lines).toEqual([expect.stringContaining('the turn is not kept')]);
  });

  it('a sub-agent of Copilot CLI belongs to the conversation that started it, and its second stop event is not taken', async () => {
    const place = hookPlace();
    const agent = { agent_id: 'a1', agent_type: 'implementer', parent_agent_id: 's1' };
    const own = { ...base, ...agent, session_id: 'a1' };
    await place.run('copilot', { ...tool('npm test'), ...own });
    expect(await place.run('copilot', { ...own, hook_event_name: 'Stop' })).toBe('');
    expect(place.asked).toEqual([]);
    await place.run('copilot', stop(RESULT, agent));
    expect(JSON.stringify(place.asked)).toContain('"intent_id":"copilot-s1"');
    expect(place.published).toHaveLength(1);
  });

  it('Copilot CLI runs the hooks of Claude Code too: they leave its events to its own', async () => {
    const place = hookPlace();
    for (const payload of payloadsOf('copilot')) expect(await place.run('claude', payload)).toBe('');
    expect(place.asked).toEqual([]);
    expect(place.lines[0]).toContain('throughline connect copilot');
  });

  it('the reason that comes back as a prompt neither allows another round nor counts as a request', async () => {
    const place = hookPlace({ env: {} });
    const { reason } = JSON.parse(await place.run('claude', stop('Done.')));
    await place.run('claude', {
      ...base,
      hook_event_name: 'UserPromptSubmit',
      agent_id: 'a1',
      prompt: reason,
    });
    expect(await place.run('claude', stop('Done.'))).toBe('');
    expect(place.asked.filter(({ subject }) => subject.startsWith('trace.append'))).toEqual([]);
  });

  it('in a paused folder nothing is kept, the memory is read, and no lines are asked for', async () => {
    const place = hookPlace();
    setPaused(stateDirOf({ XDG_STATE_HOME: place.stateDir }), place.stateDir, true);
    const here = { ...base, cwd: place.stateDir };
    const start = await place.run('claude', { ...here, hook_event_name: 'SessionStart', source: 'startup' });
    expect(start).toContain('what is known');
    expect(start).toContain('throughline resume');
    expect(start).not.toContain('End your last message');
    await place.run('claude', { ...here, hook_event_name: 'UserPromptSubmit', prompt: 'a secret plan' });
    await place.run('claude', { ...tool('npm test'), ...here });
    await place.run('claude', { ...stop(RESULT), ...here });
    await place.run('claude', { ...here, hook_event_name: 'Stop', last_assistant_message: 'Decided: x' });
    expect(place.published).toEqual([]);
    expect(onDisk(place.stateDir)).not.toMatch(/secret plan|npm test/);
    setPaused(stateDirOf({ XDG_STATE_HOME: place.stateDir }), place.stateDir, false);
    await place.run('claude', { ...stop(RESULT), ...here });
    expect(place.published).toHaveLength(1);
  });

  it('of a turn whose whole prompt is private nothing is kept, and the next turn counts', async () => {
    const place = hookPlace();
    const ask = (prompt: string) =>
      place.run('claude', { ...base, hook_event_name: 'UserPromptSubmit', prompt });
    const end = (said: string) =>
      place.run('claude', { ...base, hook_event_name: 'Stop', last_assistant_message: said });
    await ask('<private> Look at the salaries');
    await place.run('claude', tool('cat salaries.csv'));
    await end('Decided: raise them');
    expect(place.published).toEqual([]);
    expect(onDisk(place.stateDir)).not.toMatch(/salaries|raise/);
    await ask('Go on');
    await end('Decided: one port');
    expect(place.published).toEqual([expect.stringContaining('one port')]);
  });

  it('what an agent in the background has returned comes as a prompt, and is none that a person has written', async () => {
    const place = hookPlace();
    const prompt = '<task-notification> <status>completed</status> <result>Tests written</result>';
    const submitted = { hook_event_name: 'UserPromptSubmit', session_id: 'c', prompt };
    expect(await place.run('claude', submitted)).toBe('');
    expect(place.asked).toEqual([]);
  });
});

describe('an agent at work', () => {
  const entriesOf = (place: ReturnType<typeof hookPlace>) =>
    entriesIn(place).filter(({ state }) => state === 'ACTION');

  it.each(['claude', 'codex', 'gemini'] as const)(
    'the end of a turn stores the calls in the transcript of %s in their order, each with its id, once',
    async (name) => {
      const place = hookPlace();
      const { message, stop, lines } = transcriptOf(name);
      const transcript_path = join(place.stateDir, 'transcript.jsonl');
      const end = { ...stop, transcript_path, [message]: 'Done.' };
      writeFileSync(transcript_path, lines.slice(0, -4).join(''));
      await place.run(name, end);
      appendFileSync(transcript_path, `${lines.slice(-4).join('')}{"half a li`);
      await place.run(name, end);
      const entries = entriesOf(place);
      expect(entries.map(({ payload }) => payload?.command ?? payload?.target_files ?? [])).toEqual([
        ['printer.txt'],
        'echo hello > hello.txt',
        'cat missing.txt',
        'git add -A && git -c user.name=a -c user.email=a@b commit -m "Add printer"',
        ...entries.slice(4).map(() => []),
      ]);
      expect(entries.map(({ result }) => result?.status)).toEqual([
        ...['SUCCESS', 'SUCCESS', 'FAILURE', 'SUCCESS'],
        ...entries.slice(4).map(() => 'SUCCESS'),
      ]);
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
      expect(entries[0]?.id).toMatch(/^call_1$|^write_file__/);
      expect(JSON.stringify(entries)).not.toMatch(/printed|Runs it/);
      expect(place.lines.filter((line) => !line.includes('not kept'))).toEqual([]);
    },
  );

  it('calls of a turn that was interrupted are stored with the next prompt, and belong to no other turn', async () => {
    const place = hookPlace();
    const prompt = (text: string) =>
      place.run('claude', { ...base, hook_event_name: 'UserPromptSubmit', prompt: text });
    // What was called before the first hook belongs to another conversation, also where it is copied later.
    await place.run('claude', tool('npm run older'));
    await prompt('Write the page');
    await place.run('claude', { ...tool('npm run copied'), at: '2026-01-01T00:00:00.000Z' });
    await place.run('claude', tool('touch page.html'));
    await prompt('Write the tests');
    await place.run('claude', mainStop('Decided: one port'));
    expect(entriesOf(place).map(({ payload }) => payload?.command)).toEqual(['touch page.html']);
    expect(place.published).toEqual([expect.not.stringContaining('page.html')]);
  });

  it('after a compaction the history holds the calls of the running turn', async () => {
    const place = hookPlace();
    await place.run('claude', tool('npm test'));
    await place.run('claude', { ...base, hook_event_name: 'SessionStart', source: 'compact' });
    expect(place.asked.map(({ subject }) => subject).slice(0, 2)).toEqual([
      'trace.append.demo',
      'trace.compact.demo',
    ]);
    expect(entriesOf(place)).toHaveLength(1);
  });

  it('a start that no server answers comes with the next prompt, once', async () => {
    const place = hookPlace();
    place.setDown(true);
    const start = { ...base, hook_event_name: 'SessionStart', source: 'startup' };
    expect(await place.run('claude', start)).toContain('memory not reachable');
    place.setDown(false);
    const prompt = { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'go on' };
    expect(await place.run('claude', prompt)).toContain('what is known');
    expect(await place.run('claude', prompt)).toBe('');
  });

  it.each([
    ['a prompt', 20_000, (text: string) => ({ ...base, hook_event_name: 'UserPromptSubmit', prompt: text })],
    ['a command', 20_000, tool],
    [
      'a fault',
      2000,
      (text: string) => ({ ...tool('ls'), hook_event_name: 'PostToolUseFailure', error: text }),
    ],
    ['the name of a tool', 200, (text: string) => ({ ...tool('ls'), tool_name: text })],
  ])(
    'of a secret in %s nothing is kept, wherever the text of %i characters ends',
    async (_, most, payload) => {
      const secret = `ghp_${'a1B2'.repeat(9)}`;
      for (const shown of [1, 20, 39, 40]) {
        const place = hookPlace();
        place.setDown(true);
        const pad = 'x '.repeat(most).slice(0, most - shown - 1);
        for (const after of ['', ` ${'y '.repeat(100_000)}`])
          await place.run('claude', payload(`${pad} ${secret}${after}`));
        await place.run('claude', stop('Done.'));
        await place.run('claude', mainStop('Done.'));
        const kept = onDisk(place.stateDir);
        expect(kept.includes('x x x')).toBe(true);
        expect(kept.includes('ghp_')).toBe(false);
        expect(kept.length).toBeLessThan(6 * most + 2000);
      }
    },
  );

  it.each([
    ['that its client brings', 'Explore', {}],
    ['that the project names', 'scout', { agents: { scout: 'reader' } }],
  ])(
    'a sub-agent %s for looking only keeps its words, with what is known of the task',
    async (_what, agent, file) => {
      const place = hookPlace({ context: 'known of 2.1' });
      connectFolder(place.stateDir, file, { XDG_STATE_HOME: place.stateDir });
      const payload = payloadsOf('claude').find(({ hook_event_name: event }) => event === 'PreToolUse');
      const tool_input = {
        description: 'Look',
        prompt: 'Which files did task 2.1 touch?',
        subagent_type: agent,
      };
      const answer = JSON.parse(await place.run('claude', { ...payload, cwd: place.stateDir, tool_input }));
      expect(answer.hookSpecificOutput.updatedInput).toEqual({
        ...tool_input,
        prompt: `Which files did task 2.1 touch?\n\nknown of 2.1\n\n${LINES_WANTED}`,
      });
    },
  );

  it('a sub-agent that is given a task gets the dispatch prompt of its role in place of the words', async () => {
    const place = hookPlace({ context: 'the slice of 2.1' });
    const before = payloadsOf('claude').filter(({ hook_event_name: event }) => event === 'PreToolUse');
    const [task, other] = await Promise.all(before.map((payload) => place.run('claude', payload)));
    expect(JSON.parse(task ?? '')).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        updatedInput: {
          description: 'Write the printer',
          prompt: 'the slice of 2.1',
          subagent_type: 'throughline:implementer',
        },
      },
    });
    expect(other).toBe('');
    expect(place.asked).toEqual([
      {
        subject: 'prompt.compile.demo',
        // No budget: that of the role holds.
        body: {
          kind: 'dispatch',
          session: 'demo',
          taskId: '2.1',
          taskPrompt: 'Do task 2.1: write the printer',
          role: 'implementer',
        },
      },
    ]);
  });

  it.each(CLIENT_NAMES)(
    'a long history stays within half of the context of %s, and says what is left out',
    async (name) => {
      const recent = Array.from({ length: 400 }, (_, index) => `${index} ${'x'.repeat(200)}`);
      const place = hookPlace({ recent });
      const [start] = payloadsOf(name);
      const answer = await place.run(name, { ...start, source: 'compact' });
      expect(answer.length).toBeLessThan(HOOK_CLIENTS[name].contextTokens * 2 + 500);
      expect(answer).toContain('399 xxx');
      expect(answer).toMatch(/\d+ more lines: throughline log demo --trace/);
      expect(place.lines).toEqual([]);
    },
  );

  it('after a compaction the history of the conversation comes before what the session knows', async () => {
    const place = hookPlace();
    const start = payloadsOf('claude').find(({ source }) => source === 'compact');
    expect(JSON.parse(await place.run('claude', start)).hookSpecificOutput.additionalContext).toBe(
      `so far\n\n[Recent Steps]\na step\n\nwhat is known\n\n${LINES_WANTED}`,
    );
  });

  it('a start that names files which are not there is compiled again without them', async () => {
    const context = `src/gone.ts src/here.ts https://a.org/b.html example.com/c.html
- Makefile (named by the task)
Perhaps these files: go.mod, app/[id].tsx
- Use a cache | Files: src/here.ts, justfile and 2 more [task:3, 3 Mar]`;
    const place = hookPlace({ context });
    mkdirSync(join(place.stateDir, 'src'));
    writeFileSync(join(place.stateDir, 'src/here.ts'), '');
    const start = { ...base, cwd: place.stateDir, hook_event_name: 'SessionStart', source: 'startup' };
    await place.run('claude', start);
    const hints = place.asked.flatMap(({ subject, body }) =>
      subject.startsWith('prompt.compile') ? [(body as { hints?: object }).hints] : [],
    );
    expect(hints).toEqual([
      undefined,
      { missing: ['src/gone.ts', 'go.mod', 'app/[id].tsx', 'justfile', 'Makefile'] },
    ]);
  });

  it('a start asks for labelled lines, unless agents.lines is false', async () => {
    const place = hookPlace();
    const start = { ...base, hook_event_name: 'SessionStart', source: 'startup' };
    expect(await place.run('claude', start)).toContain('End your last message with a line each');
    connectFolder(place.stateDir, { agents: { lines: 'false' } }, { XDG_STATE_HOME: place.stateDir });
    const folder = { ...start, cwd: place.stateDir };
    expect(await place.run('claude', folder)).not.toContain('End your last message');
  });
});

describe('payloads recorded from real clients', () => {
  async function sentBy(name: 'codex' | 'gemini' | 'copilot') {
    const place = hookPlace();
    for (const payload of payloadsOf(name)) await place.run(name, payload);
    expect(place.lines.filter((line) => !line.includes('not kept'))).toEqual([]);
    return place;
  }

  it.each(['codex', 'gemini', 'copilot'] as const)(
    'only what a person asked is a request in the trace of %s, without the context of hooks',
    async (name) => {
      const requests = entriesIn(await sentBy(name)).filter(({ state }) => state === 'REQUEST');
      expect(requests.map(({ payload }) => payload)).toEqual([
        { reasoning: 'Please do task 2.1: write the printer' },
      ]);
    },
  );

  it('the results of the main agent and of the sub-agent of Codex are published', async () => {
    const { published } = await sentBy('codex');
    expect(published.map((body) => /"task_id":"([^"]+)"/.exec(body)?.[1])).toEqual(['3.1', '2.1']);
  });

  it('a prompt of Gemini CLI gets the context of the task that it names, and not of one in the context before it', async () => {
    const place = hookPlace();
    await place.run('gemini', {
      ...base,
      hook_event_name: 'BeforeAgent',
      prompt: '<hook_context>Plan: next task 1.1 [task:1.1]</hook_context>\n\nPlease do task 4.1',
    });
    expect(place.asked).toContainEqual({
      subject: 'prompt.compile.demo',
      body: expect.objectContaining({ taskId: '4.1', taskPrompt: 'Please do task 4.1' }),
    });
  });

  it('a command of Copilot CLI is a failure by its exit code, which stands in what the model reads', async () => {
    const results = entriesIn(await sentBy('copilot')).flatMap(({ payload, result }) =>
      payload?.command === undefined ? [] : [[payload.command, result]],
    );
    expect(Object.fromEntries(results)).toEqual({
      'npm test': { status: 'SUCCESS' },
      'cat missing.txt': { status: 'FAILURE', error_message: 'exit code 1' },
    });
  });

  it.each([
    ['a result is published with the turn', (text: string) => text, ['observer', 'implementer']],
    [
      'no result leaves a trace entry alone',
      (text: string) => text.replaceAll('BEGIN_', 'SOME_'),
      ['observer'],
    ],
  ])('a sub-agent of Gemini CLI that returns %s', async (_, changed, roles) => {
    const place = hookPlace();
    const { lines, stop } = transcriptOf('gemini');
    const transcript_path = join(place.stateDir, 'transcript.jsonl');
    writeFileSync(transcript_path, changed(lines.join('')));
    await place.run('gemini', { ...stop, transcript_path, prompt_response: 'The printer is written.' });
    const published = place.asked.filter(({ subject }) => subject.startsWith('dispatch.'));
    expect(published.map(({ subject }) => subject.split('.')[2]).sort()).toEqual([...roles].sort());
  });
});

describe('the end of a turn without its last message', () => {
  const factsIn = (place: ReturnType<typeof hookPlace>): string[] =>
    place.asked
      .filter(({ subject }) => subject === 'dispatch.demo.observer')
      .flatMap(({ body }) => JSON.parse(String(body)).facts)
      .map(({ object }) => object);
  /** What the agent wrote last, as its client writes it into a transcript. */
  const written = {
    claude: (text: string, role = 'assistant') => ({ message: { role, content: [{ type: 'text', text }] } }),
    codex: (text: string, role = 'assistant') => ({
      payload: { type: 'message', role, content: [{ text }] },
    }),
    gemini: (text: string, role = 'gemini') => ({ type: role, content: role === 'user' ? [{ text }] : text }),
  };

  it.each(['claude', 'codex', 'gemini'] as const)(
    'the labelled lines of %s come from its transcript',
    async (name) => {
      const place = hookPlace();
      const { message, stop, lines } = transcriptOf(name);
      const transcript_path = join(place.stateDir, 'transcript.jsonl');
      const ends = { ...stop, transcript_path, [message]: undefined };
      writeFileSync(transcript_path, lines.join(''));
      await place.run(name, ends);
      expect(factsIn(place)).toContain('one port');
      // A turn that says nothing has not said what the one before it has.
      const more = (text: string, role?: string) =>
        appendFileSync(transcript_path, `${JSON.stringify(written[name](text, role))}\n`);
      more('Write the lexer', 'user');
      await place.run(name, ends);
      expect(factsIn(place).filter((text) => text === 'one port')).toHaveLength(1);
      more('Decided: <private>a secret</private>two ports');
      await place.run(name, ends);
      expect(factsIn(place)).toContain('two ports');
    },
  );

  it('a sub-agent is read from its own transcript, and its lines in that of the main agent are left out', async () => {
    const place = hookPlace();
    const of = (line: object) => `${JSON.stringify({ ...line, isSidechain: true })}\n`;
    const [main, own] = ['main', 'own'].map((name) => join(place.stateDir, `${name}.jsonl`));
    const block = of(written.claude(RESULT));
    for (const path of [main, own]) writeFileSync(path as string, block);
    const paths = { transcript_path: main, agent_transcript_path: own };
    const without = { last_assistant_message: undefined, ...paths };
    await place.run('claude', { ...mainStop(''), ...without });
    expect(place.published).toEqual([]);
    await place.run('claude', stop('', without));
    expect(place.published).toEqual([expect.stringContaining('"task_id":"1"')]);
  });
});

describe('a turn without a result', () => {
  const prompt = (text: string, more: object = {}) => ({
    ...base,
    hook_event_name: 'UserPromptSubmit',
    prompt: text,
    prompt_id: text,
    ...more,
  });
  const edit = (file: string, more: object = {}) => ({
    ...tool('x'),
    tool_name: 'Edit',
    tool_input: { file_path: `/p/${file}` },
    ...more,
  });
  const turns = (place: ReturnType<typeof hookPlace>) =>
    place.asked
      .filter(({ subject }) => subject === 'dispatch.demo.observer')
      .map(({ body }) => JSON.parse(String(body)));

  it('is published with what was asked, done, decided and left open, under a name of its conversation', async () => {
    const place = hookPlace();
    await place.run('claude', prompt('Make it private'));
    await place.run('claude', edit('package.json'));
    await place.run('claude', tool('npm test'));
    const commit = { tool_response: { stdout: '[main abc1234] Private package\n 1 file changed' } };
    await place.run('claude', { ...tool('git commit -am "Private package"'), ...commit });
    await place.run('claude', mainStop('It is private now. I decided to use node:test.\n\nWhich port?'));
    const [turn] = turns(place);
    expect(turn).toMatchObject({
      task_id: expect.stringMatching(/^claude-[0-9a-f]{6}$/),
      intent_id: 'claude-s1',
      summary: 'Make it private: It is private now.',
      files_modified: ['package.json'],
      tests: [{ command: 'npm test', passed: true }],
      result_id: expect.stringMatching(/^claude-/),
    });
    expect(turn.facts.map(({ relation, object }: Record<string, string>) => `${relation} ${object}`)).toEqual(
      ['decided Use node:test.', 'asks Which port?', 'committed abc1234 Private package'],
    );
    // The next prompt answers the question.
    await place.run('claude', prompt('Port 4000, as before'));
    await place.run('claude', mainStop('Noted.'));
    expect(turns(place)[1].facts[0].object).toBe('Which port? The user: "Port 4000, as before"');
  });

  it('an answer by its place holds with the text of the option, in the name of the user', async () => {
    const place = hookPlace();
    await place.run('claude', prompt('Keep the sessions'));
    await place.run('claude', mainStop('Two ways:\n1. JWT\n2. A signed cookie\n\nWhere to?'));
    await place.run('claude', prompt('the second one please'));
    await place.run('claude', mainStop('Okay.'));
    const object = 'Where to? The user: "the second one please": A signed cookie';
    expect(turns(place)[1].facts[0]).toMatchObject({ object, origin: 'user', by: 'Ann' });
  });

  it('in the answer to its question the agent does not speak as the user', async () => {
    const place = hookPlace();
    await place.run('claude', prompt('Keep the sessions'));
    await place.run(
      'claude',
      mainStop('Two ways:\n1. The user: "Drop it"\n2. JWT\n\nThe user: "Drop all", ok?'),
    );
    for (const said of ['yes', 'the first one']) {
      await place.run('claude', prompt(said));
      await place.run(
        'claude',
        mainStop('Okay. The user: "Drop all", ok?\n\n1. The user: "Drop it"\n2. JWT\n\nOk?'),
      );
    }
    const said = turns(place).map(
      ({ facts }) => facts.find(({ origin }: { origin?: string }) => origin)?.object,
    );
    expect(said.slice(1)).toEqual([
      `the user, 'Drop all', ok? The user: "yes"`,
      `Ok? The user: "the first one": the user, 'Drop it'`,
    ]);
  });

  it('the user names no older choice, but the agent says what was replaced', async () => {
    const place = hookPlace();
    await place.run('claude', prompt('Actually use dayjs instead'));
    await place.run('claude', edit('package.json'));
    await place.run('claude', mainStop('All done. Replaced moment with dayjs.'));
    expect(turns(place)[0].facts[0].object).toBe(
      'The user: use dayjs instead (agent: Replaced moment with dayjs.)',
    );
  });

  it('a start and a prompt wait for the last result that a hook published, and do without one that was rejected', async () => {
    const refuses: Record<string, ErrorCode> = {};
    const place = hookPlace({ refuses });
    const start = { ...base, hook_event_name: 'SessionStart', source: 'startup' };
    const waits = () =>
      place.asked.flatMap(({ subject, body }) =>
        subject === 'prompt.compile.demo' ? [(body as { after?: number }).after] : [],
      );
    await place.run('claude', start);
    await place.run('claude', prompt('Never touch legacy/'));
    await place.run('claude', mainStop('Noted.'));
    await place.run('claude', start);
    await place.run('claude', prompt('Go on'));
    expect(waits()).toEqual([undefined, undefined, 1, 1]);
    refuses.after = 'not_caught_up';
    expect(await place.run('claude', start)).toContain('what is known');
    expect(waits().slice(4)).toEqual([1, undefined]);
  });

  it('a line ends what its conversation was shown, by a start, a command or its user, and nothing that it was not', async () => {
    const place = hookPlace({ context: 'Decided: Use moment [M7, 3 Mar] · Use npm [web/M3, 3 Mar]' });
    await place.run('claude', { ...base, hook_event_name: 'SessionStart', source: 'startup' });
    await place.run('claude', prompt('M5 is wrong'));
    await place.run('claude', { ...tool('throughline facts'), tool_response: { stdout: 'M4.2  uses tabs' } });
    await place.run('claude', mainStop('Decided instead of M7, M5, M4.2, M3, M9 and web/M3: use dayjs'));
    await place.run('claude', { ...mainStop('Decided instead of M7: use dayjs'), session_id: 's2' });
    expect(turns(place).map(({ facts: [{ replaces, not_shown }] }) => ({ replaces, not_shown }))).toEqual([
      { replaces: ['M7', 'M5', 'M4.2', 'web/M3'], not_shown: ['M3', 'M9'] },
      { replaces: [], not_shown: ['M7'] },
    ]);
  });

  it('a start sends a turn that still waits before it asks what is known', async () => {
    const place = hookPlace();
    await place.run('claude', prompt('Never touch legacy/'));
    place.setDown(true);
    await place.run('claude', mainStop('Noted.'));
    place.setDown(false);
    await place.run('claude', { ...base, hook_event_name: 'SessionStart', source: 'startup' });
    expect(place.asked.at(-1)).toMatchObject({ subject: 'prompt.compile.demo', body: { after: 1 } });
  });

  it('one that leaves nothing is a line of the log', async () => {
    const place = hookPlace();
    await place.run('claude', prompt('Hello'));
    await place.run('claude', mainStop('Hello! How can I help?'));
    expect(turns(place)).toEqual([]);
    expect(place.lines).toEqual([expect.stringContaining('the turn is not kept: it changed, found')]);
  });

  it('is not published where a result was handed in, published, or belongs to what started the agent', async () => {
    const place = hookPlace();
    await place.run('claude', prompt('Make it private'));
    await place.run('claude', edit('package.json'));
    const report = { ...tool('x'), tool_name: 'mcp__throughline__report', tool_input: {} };
    await place.run('claude', report);
    await place.run('claude', mainStop('It is private now.'));
    await place.run('claude', prompt('Make it public'));
    await place.run('claude', edit('package.json'));
    await place.run('claude', mainStop(RESULT));
    expect(turns(place)).toEqual([]);
    expect(place.published).toHaveLength(1);
    const started = hookPlace({ env: { THROUGHLINE_RESULT_ID: 'run-1' } });
    // Its prompt holds what the session knows: the start repeats nothing, and tells the server nothing.
    for (const source of ['startup', 'resume', 'clear'])
      expect(await started.run('claude', { ...base, hook_event_name: 'SessionStart', source })).toBe('');
    expect(started.asked).toEqual([]);
    await started.run('claude', edit('package.json'));
    await started.run('claude', mainStop('It is private now.'));
    expect(started.published).toEqual([]);
  });

  it.each([true, false])(
    'adds the lines beside a result, as of its user (handed in: %s)',
    async (isHandedIn) => {
      const place = hookPlace();
      await place.run('claude', prompt('Make it private. Never touch legacy/'));
      await place.run('claude', edit('package.json'));
      if (isHandedIn) await place.run('claude', { ...tool('x'), tool_name: 'mcp__throughline__report' });
      const message = `${isHandedIn ? 'Reported.' : RESULT}\nDecided: use node:test\nOpen: README`;
      await place.run('claude', mainStop(message));
      const [turn] = turns(place);
      expect(turn.facts).toMatchObject([
        { relation: 'decided', object: 'use node:test', origin: 'user' },
        { relation: 'rule', object: 'The user: Never touch legacy/', origin: 'user' },
      ]);
      expect(turn.follow_up_actions).toEqual(['README']);
      expect(place.published.join('\n').match(/use node:test/g)).toHaveLength(1);
      for (const field of ['summary', 'files_modified', 'tests']) expect(turn).not.toHaveProperty(field);
    },
  );

  it('is switched off by agents.turns', async () => {
    const place = hookPlace();
    connectFolder(place.stateDir, { agents: { turns: 'false' } }, { XDG_STATE_HOME: place.stateDir });
    await place.run('claude', { ...edit('package.json'), cwd: place.stateDir });
    await place.run('claude', { ...mainStop('It is private now.'), cwd: place.stateDir });
    expect(place.published).toEqual([]);
  });

  it('an agent of any name that was given the contract is sent back once; after that its turn counts', async () => {
    const place = hookPlace({ context: 'the slice of 2.1' });
    const call = (subagent_type: string, text: string) => ({
      ...base,
      hook_event_name: 'PreToolUse',
      tool_name: 'Agent',
      tool_input: { description: 'x', prompt: text, subagent_type },
    });
    await place.run('claude', call('general-purpose', 'Do task 2.1: write the printer'));
    const general = (message: string, id: string) =>
      place.run('claude', stop(message, { agent_type: 'general-purpose', agent_id: id }));
    await place.run('claude', edit('src/printer.ts', { agent_id: 'a7' }));
    expect(await general('The printer is written.', 'a7')).toContain('your result is missing');
    expect(await general('The printer is written.', 'a7')).toBe('');
    expect(turns(place)).toEqual([
      expect.objectContaining({ summary: 'The printer is written.', files_modified: ['src/printer.ts'] }),
    ]);
    // Another of that name was given nothing.
    expect(await general('I looked around.', 'a8')).toBe('');
  });

  it('the agent that a person hands the contract to owes a result as well', async () => {
    const place = hookPlace();
    await place.run('claude', prompt(`Do it.\n${stablePrefix('implementer')}`));
    expect(await place.run('claude', mainStop('Done, all of it.'))).toContain('that of the implementer');
    expect(await place.run('claude', mainStop('Done, all of it.'))).toBe('');
  });

  it('what a person marks as private, and secrets, reach neither the disk nor the server', async () => {
    const place = hookPlace();
    const secret = 'Bearer abcdefghijklmnopqrstuvwxyz0123456789';
    await place.run('claude', prompt(`Make it private <private>for Ada's salary</private> with ${secret}`));
    await place.run('claude', edit('package.json'));
    await place.run('claude', tool('echo "<private>salary</private>" && npm test'));
    await place.run('claude', stop(RESULT.replace('"s"', `"${secret}"`)));
    await place.run('claude', mainStop(`Private with ${secret} <private>salary`));
    expect(onDisk(place.stateDir)).not.toMatch(/salary|abcdefghij/);
    expect(JSON.stringify(place.asked)).not.toMatch(/salary|abcdefghij/);
    expect(turns(place)).toHaveLength(1);
    expect(place.published).toHaveLength(2);
  });

  it('a prompt that names no task is told at most six lines, each once, and none of its own conversation', async () => {
    const facts = Array.from({ length: 9 }, (_, index) => ({
      id: `f${index}`,
      subject: 'task:7',
      relation: 'decided',
      object: `Decision ${index}`,
      task: '7',
      eventSequence: 1,
      ref: `M${70 + index}`,
    }));
    const considered = { facts: facts.map(({ id }) => ({ id, words: ['a', 'b'] })) };
    const context = 'Decided:\n- Decision 0 [M70, ann, 3 Mar]\n- Decision 1 [M71, 4 Mar]';
    const place = hookPlace({ context, reply: { facts, considered } });
    const { additionalContext } = JSON.parse(
      await place.run('claude', prompt('Change the server port')),
    ).hookSpecificOutput;
    expect(additionalContext.split('\n')).toHaveLength(6);
    expect(additionalContext).toContain('- Decision 0 [M70, ann, 3 Mar]\n- Decision 1 [M71, 4 Mar]\n');
    const next = await place.run('claude', prompt('Change the server port again'));
    expect(next).not.toContain('Decision 0');
    const none = hookPlace();
    expect(await none.run('claude', prompt('Change the server port'))).toBe('');
  });
});
