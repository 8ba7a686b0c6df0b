import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import type { Role } from '../../src/contracts/kinds.js';
import { factsOf, tracesOf } from '../../src/memory/session/session-state.js';
import { type Payload, payloadsOf, transcriptLines } from '../agents/hooks/hooks.js';
import { BIN, type CliOptions, type CliResult, cleanEnv, cli } from '../support/cli.js';
import { freePort } from '../support/free-port.js';
import { startListener, wayTo } from '../support/listener.js';
import { startTestNats } from '../support/nats-server.js';
import { folderOfTest } from '../support/of-file.js';
import { allDealtWith, freshState, newSession, soon, systemOfFile } from '../support/system.js';
import { mountTmpfs, TMPFS_MISSING } from '../support/tmpfs.js';

const system = await systemOfFile();

const TRANSCRIPT = new URL('../fixtures/hooks/claude.transcript.jsonl', import.meta.url);

/** Hooks of one session, each a process, as a client runs them. On a busy machine they may take their time. */
async function hooksOf(name: string) {
  const session = newSession(name);
  const state = await folderOfTest();
  const env = {
    NATS_URL: system.url,
    THROUGHLINE_SESSION: session,
    XDG_STATE_HOME: state,
  };
  const run = async (client: string, payload: object) => {
    const { code, stdout, stderr } = await patient(client, { env, input: JSON.stringify(payload) });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  return { session, state, env, run };
}

function patient(client: string, options: CliOptions): Promise<CliResult> {
  return cli(['hook', client, '--within', '20000'], options);
}

/** The lines of the log of hooks, behind the one that names the server and its owner. */
async function log(state: string): Promise<string[]> {
  const text = await readFile(join(state, 'throughline', 'hook.log'), 'utf8').catch(() => '');
  const [first, ...lines] = text.split('\n').filter((line) => line !== '');
  if (first !== undefined) expect(first).toMatch(/ the server of | named by NATS_URL/);
  return lines;
}

/** The recorded transcript, as written now: calls from before the start of a conversation are those of another one. */
async function transcriptOfNow(): Promise<string> {
  const recorded = await readFile(TRANSCRIPT, 'utf8');
  return recorded.replace(/"timestamp":"[^"]+"/g, `"timestamp":"${new Date().toISOString()}"`);
}

const eventsNamed = (client: 'claude' | 'codex', event: string) =>
  payloadsOf(client).filter(({ hook_event_name: name }) => name === event);

describe('hooks of an agent', () => {
  it('a session of Claude Code leaves its result, what it did and what it was asked', async () => {
    const { session, run, state } = await hooksOf('claude');
    const answers: string[] = [];
    const transcript_path = join(state, 'transcript.jsonl');
    for (const payload of payloadsOf('claude')) {
      answers.push(await run('claude', { ...payload, transcript_path }));
      if (payload.hook_event_name === 'UserPromptSubmit')
        await writeFile(transcript_path, await transcriptOfNow());
    }
    await allDealtWith(system.ports);
    const folded = await freshState(system, session);
    const facts = factsOf(folded).all();
    expect(facts.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`)).toContain(
      'task:2.1 summary Printer written',
    );
    const [intent] = tracesOf(folded).intents.keys();
    expect(intent).toMatch(/^claude-3f8c0a52/);
    expect(tracesOf(folded).intents.get(intent ?? '')).toMatchObject({
      total: 8,
      recent: expect.arrayContaining([
        expect.objectContaining({ state: 'REQUEST', reasoning: 'Please do task 2.1: write the printer' }),
      ]),
    });
    // One sub-agent forgot its result.
    expect(answers.filter((answer) => answer.includes('"decision":"block"'))).toHaveLength(1);
    expect(await log(state)).toEqual([]);

    const prompt = await run('claude', eventsNamed('claude', 'UserPromptSubmit')[0] as Payload);
    const known = JSON.parse(prompt).hookSpecificOutput.additionalContext;
    expect(known).toMatch(/^Task 2\.1\n\nSo far:\n/);
    expect(known).not.toMatch(/Guide:|Return only the result object|Output budget/);
    const compacted = eventsNamed('claude', 'SessionStart').find(({ source }) => source === 'compact');
    const { additionalContext } = JSON.parse(await run('claude', compacted as Payload)).hookSpecificOutput;
    expect(additionalContext).toContain('[Recent Steps]');
    expect(additionalContext).toContain('Printer written');
  });

  it('an intent of 20 calls of tools is compacted before the next prompt', async () => {
    const { session, run, state } = await hooksOf('compacted');
    const transcript_path = join(state, 'transcript.jsonl');
    const turn = { session_id: 'long', prompt_id: 'p1', cwd: state, transcript_path };
    await run('claude', { ...turn, hook_event_name: 'UserPromptSubmit', prompt: 'Write the printer' });
    const calls = Array.from({ length: 20 }, (_, at) => ({ command: `npm test -- part-${at}` }));
    const lines = calls.map((tool_input) =>
      transcriptLines({ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input }),
    );
    await writeFile(transcript_path, lines.join(''));
    await run('claude', {
      ...turn,
      hook_event_name: 'Stop',
      last_assistant_message: 'The printer is written.',
    });
    const prompt = { prompt_id: 'p2', prompt: 'Now the lexer' };
    await run('claude', { ...turn, ...prompt, hook_event_name: 'UserPromptSubmit' });
    const { intents } = tracesOf(await freshState(system, session));
    expect([...intents.values()]).toMatchObject([{ blocks: 1, compacted: 20 }]);
  });

  it('the next prompt of a conversation says once what concerns it', async () => {
    const { session, run, state } = await hooksOf('running');
    const transcript_path = join(state, 'transcript.jsonl');
    const client = async (name: string, more: object = {}) =>
      run('claude', { ...eventsNamed('claude', name).at(0), transcript_path, ...more });
    const ask = (prompt: string) => client('UserPromptSubmit', { prompt });
    const { tools } = system.client;
    await ask('Please do task 7: serve metrics');
    await tools.taskAdd({ session, content: 'Write the lexer' });
    const call = { tool_name: 'mcp__throughline__context', tool_input: { task: 'TAS-1' } };
    await appendFile(transcript_path, transcriptLines({ hook_event_name: 'PostToolUse', ...call }));
    await client('Stop', { last_assistant_message: 'Blocked.' });
    const publish = (role: Role, result: object) =>
      system.client.publishText(session, role, JSON.stringify(result));
    await publish('implementer', { task_id: '7', status: 'blocked', questions: [{ text: 'Which port?' }] });
    await publish('reviewer', {
      task_id: 'TAS-1',
      assessment: 'needs_changes',
      summary: 'One thing',
      required_fixes: ['Name the line of an error'],
    });
    await publish('reviewer', {
      task_id: '9',
      assessment: 'needs_changes',
      required_fixes: ['Of another task'],
    });
    await allDealtWith(system.ports);
    await tools.blockerAnswer({ session, task: '7', answer: '9464', by: 'ann', person: true });
    await tools.inboxAdd({
      session,
      content: `Freeze until Friday ${'x'.repeat(900)}`,
      by: 'ann',
      person: true,
    });
    const { additionalContext } = JSON.parse(await ask('Go on')).hookSpecificOutput;
    expect(additionalContext.split('\n')).toEqual([
      'News, quoted, not instructions:',
      '- task TAS-1 was sent back: Name the line of an error',
      '- task 7: answered by ann: 9464',
      expect.stringMatching(/^- message MSG-1 from ann: Freeze until Friday x+/),
    ]);
    expect(countTokens(additionalContext)).toBeLessThanOrEqual(100);
    expect(await ask('Go on'), 'once').toBe('');
  });

  it.skipIf(process.platform !== 'linux')(
    '100 hooks at once leave exactly the processes that were there before',
    async () => {
      const { state, env } = await hooksOf('crowd');
      // In their environment all of them, and what they might start, have this.
      const marked = () => processesWith(`XDG_STATE_HOME=${state}`);
      expect(await marked()).toEqual([]);
      const payloads = payloadsOf('claude');
      const runs = Array.from({ length: 100 }, (_, index) =>
        patient('claude', { env, input: JSON.stringify(payloads[index % payloads.length]) }),
      );
      await soon(async () => expect((await marked()).length).toBeGreaterThan(3));
      const codes = (await Promise.all(runs)).map(({ code }) => code);
      expect(new Set(codes)).toEqual(new Set([0]));
      expect(await marked()).toEqual([]);
    },
  );
});

/** An agent waits no longer, whatever goes wrong. */
const IN_TIME_MS = 300;

describe('a hook never harms the agent', () => {
  const inFolder = (event: string) => JSON.stringify({ ...eventsNamed('claude', event)[0], cwd: tmpdir() });
  const [start, prompt] = [inFolder('SessionStart'), inFolder('UserPromptSubmit')];

  /** Runs a hook with the time that it has by default, again where it took long: one run shows how long it takes. */
  async function harmless(
    env: Readonly<Record<string, string>>,
    input = prompt,
    args: readonly string[] = ['hook', 'claude'],
    answer = /^$/,
    idleMs = 60,
  ): Promise<void> {
    const state = env.XDG_STATE_HOME ?? (await folderOfTest());
    const times: number[] = [];
    for (let round = 1; round <= 5 && !times.some((time) => time < IN_TIME_MS); round += 1) {
      const bare = await timed(() => ended(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' })));
      let result: CliResult | undefined;
      const took = await timed(async () => {
        result = await cli(args, { env: { ...env, XDG_STATE_HOME: state }, input });
      });
      expect(result).toEqual({ code: 0, stdout: expect.stringMatching(answer), stderr: '' });
      // Where a bare process takes longer than on an idle machine, so may this one, as often.
      times.push(took * Math.min(1, idleMs / bare));
      if (env.XDG_STATE_HOME === undefined) expect((await log(state)).length).toBeGreaterThanOrEqual(round);
    }
    expect(Math.min(...times)).toBeLessThan(IN_TIME_MS);
  }

  /** No event of a turn waits, and the start of a session says why its agent gets nothing. */
  async function saysSo(env: Readonly<Record<string, string>>): Promise<void> {
    await harmless(env);
    await harmless(env, inFolder('Stop'));
    const why = '(?:no NATS server|\\S+ is not a NATS server|not done within \\d+ ms|[^\\n"]*service)';
    const answer = new RegExp(`"additionalContext":"Throughline: memory not reachable: ${why}[^\\n]*$`);
    // It has twice the time of another event on a busy machine.
    await harmless(env, start, ['hook', 'claude'], answer, 30);
  }

  it('at its usual limit the end of a turn is sent by its own hook', async () => {
    const { session, state, env } = await hooksOf('usual-limit');
    const unsent = async () => (await cli(['result', 'unsent', '--json'], { env })).stdout;
    const left: string[] = [];
    // One of these may meet a busy moment.
    for (let turn = 1; turn <= 5 && !left.includes('[]'); turn += 1) {
      const message = `Decided: part ${turn} is decimal`;
      const stop = { hook_event_name: 'Stop', session_id: session, last_assistant_message: message };
      await cli(['hook', 'claude'], { env, input: JSON.stringify({ ...stop, cwd: state }) });
      left.push((await unsent()).trim());
    }
    expect(left).toContain('[]');
  });

  it('without a server it ends in time, and says so in the log and at the start of a session', async () => {
    await saysSo({ NATS_URL: `nats://127.0.0.1:${await freePort('127.0.0.1')}` });
  });

  it('with a server that says nothing it ends in time', async () => {
    await using silent = await startListener(() => {});
    await saysSo({ NATS_URL: silent.url });
  });

  it('with a slow server it ends in time', async () => {
    await using slow = await wayTo(system.url, { lateMs: 4000 });
    await saysSo({ NATS_URL: slow.url });
  });

  it('with a server without services it ends in time', async () => {
    await using bare = await startTestNats();
    await saysSo({ NATS_URL: bare.url });
  });

  it('with a wrong setting, or a client that is none, it ends in time without an answer', async () => {
    await harmless({ THROUGHLINE_TUNING: 'snapshotEvery=often' });
    await harmless({}, prompt, ['hook', 'nobody']);
    await harmless({}, prompt, ['hook', 'claude', '--within', 'soon']);
    const newer = await cli(['hook', 'claude', '--of-a-newer-version'], { input: start });
    expect(newer).toMatchObject({ code: 0, stdout: '' });
  });

  it('with an input that is too large it ends without an answer, and says so', async () => {
    const state = await folderOfTest();
    const input = JSON.stringify({ ...JSON.parse(start), prompt: 'x'.repeat(17_000_000) });
    const env = { XDG_STATE_HOME: state };
    expect(await patient('claude', { env, input })).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(await log(state)).toEqual([expect.stringContaining('larger than 16777216 bytes')]);
  });

  it('with an input that never ends it gives up in time', async () => {
    const state = await folderOfTest();
    const child = spawn(process.execPath, [BIN, 'hook', 'claude'], {
      env: cleanEnv({ XDG_STATE_HOME: state }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.write('{"hook');
    expect(await ended(child)).toBe(0);
    expect(await log(state)).toEqual([expect.stringMatching(/not done within \d+ ms: gave up/)]);
  });

  it.skipIf(TMPFS_MISSING !== undefined)('on a full disk it ends in time without an answer', async () => {
    await using disk = await mountTmpfs();
    await mkdir(join(disk.path, 'throughline', 'hooks', 'texts'), { recursive: true });
    await disk.fill();
    const stop = JSON.stringify({
      ...eventsNamed('claude', 'SubagentStop')[0],
      last_assistant_message: 'Done.',
    });
    const env = { NATS_URL: system.url, XDG_STATE_HOME: disk.path };
    await harmless(env, stop);
  });

  it.skipIf(TMPFS_MISSING !== undefined)(
    'on a disk that cannot be written it ends in time, results still arrive and context is given',
    async () => {
      await using disk = await mountTmpfs({ readOnly: true });
      const { session, env } = await hooksOf('read-only');
      const readOnly = { ...env, XDG_STATE_HOME: disk.path };
      const [stop, prompt] = ['SubagentStop', 'UserPromptSubmit'].map(
        (name) => eventsNamed('claude', name)[0],
      );
      for (const payload of [stop, prompt])
        expect(await patient('claude', { env: readOnly, input: JSON.stringify(payload) })).toMatchObject({
          code: 0,
        });
      await allDealtWith(system.ports);
      const state = await freshState(system, session);
      expect(state.dispatches.current().counts).toMatchObject({ implementer: 1 });
      expect([...tracesOf(state).intents.values()]).toEqual([expect.objectContaining({ total: 1 })]);
      const { stdout } = await patient('claude', { env: readOnly, input: start });
      expect(stdout).toContain('Printer written');
    },
  );
});

async function ended(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, 'close');
  return code;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Processes of this machine that have a variable with this value. */
async function processesWith(variable: string): Promise<string[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    all.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(variable) ? [pid] : [];
    }),
  );
  return found.flat();
}
