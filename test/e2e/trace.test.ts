import { describe, expect, it, vi } from 'vitest';
import type { Token } from '../../src/contracts/names.js';
import { type PreparedPrompt, withPreLlmCompaction } from '../../src/traces.js';
import { step, steps } from '../memory/traces/compaction-entries.js';
import { cli } from '../support/cli.js';
import { eventsOf, newSession, sequencesOf, systemOfFile } from '../support/system.js';

const system = await systemOfFile();

const TASK = { taskId: 'next', taskPrompt: 'go on with the parser' };
const INTENT = { activeIntentId: 'INT-1' };
const MESSAGES = { include: ['messages' as const] };

async function sessionWith(count: number): Promise<Token> {
  const session = newSession('trace');
  await system.client.traces.append({ session, entries: steps(count) });
  return session;
}

describe('trace.append', () => {
  it('trace.append refuses a request of which nothing can be read, names the field, and counts it', async () => {
    const session = newSession('append');
    const refused = system.client.send('trace.append', { session, entries: [{ intent_id: 5 }] });
    await expect(refused).rejects.toMatchObject({
      code: 'schema_invalid',
      message: expect.stringContaining('intent_id'),
    });
    await expect(system.client.traces.append({ session, entries: [] })).rejects.toMatchObject({
      code: 'schema_invalid',
    });
    const events = await eventsOf(system, session);
    const why = { malformed_because: expect.stringContaining('intent_id') };
    expect(events).toMatchObject([{ event: { data: { entries: [], malformed: 1, ...why } } }]);
  });
});

describe('prompt.compile of a dispatch', () => {
  const systemPrompt = 'You write parsers.';

  it('a dispatch prompt has the summary and an empty line before the system prompt, and says what it stands for', async () => {
    const session = await sessionWith(41);
    const { summary, compacted } = await system.client.traces.compact({ session, intentId: 'INT-1' });
    const reply = await system.client.compile({ session, ...TASK, ...INTENT, systemPrompt, ...MESSAGES });
    expect(reply.messages[0]).toEqual({ role: 'system', content: `${summary}\n\n${systemPrompt}` });
    expect(reply.prompt.startsWith(`${summary}\n\n${systemPrompt}\n\nTask next\n`)).toBe(true);
    expect(reply.compacted).toEqual(compacted);
    expect(Object.keys(reply.compacted ?? {})).toEqual(['entries', 'blocks', 'tokensBefore', 'tokensAfter']);
    expect(reply.prompt).toContain(
      '[Recent Steps]\n- SUCCESS edit: src/f41.ts | wrote part 41\n\nTask prompt:',
    );
    expect(reply.prompt).not.toContain('src/f1.ts | wrote part 1\n');
  });
});

describe('T019: the SDK, end to end', () => {
  function wired(session: Token, intent?: string) {
    const createMessage = vi.fn(async (systemPrompt: string) => systemPrompt.length);
    const prepared: PreparedPrompt[] = [];
    const error = vi.fn();
    const call = withPreLlmCompaction(createMessage, {
      hookEngine: system.client.hookEngine(session),
      // A machine that stands still for a moment is not a hook that does not answer.
      deadlineMs: 30_000,
      activeIntentId: intent,
      session,
      logger: { error },
      onPrepared: (each) => prepared.push(each),
    });
    return { call, createMessage, prepared, error };
  }

  it('the SDK prepends the summary of the active intent, the same bytes until a further block', async () => {
    const session = await sessionWith(21);
    const { summary } = await system.client.traces.compact({ session, intentId: 'INT-1' });
    const { call, createMessage, prepared, error } = wired(session, 'INT-1');
    await call('You write parsers.');
    await system.client.traces.append({ session, entries: steps(18, 22) });
    await call('You write parsers.');
    await system.client.traces.append({ session, entries: [step(40)] });
    await call('You write parsers.');
    const [first, second, third] = createMessage.mock.calls.map(([text]) => text);
    expect(first).toBe(`${summary}\n\nYou write parsers.`);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(prepared.map(({ original }) => original)).toEqual(Array(3).fill('You write parsers.'));
    expect(error).not.toHaveBeenCalled();
  });
});

describe('the trace on the command line', () => {
  const run = (args: string[], input = '') => cli(args, { input, env: { NATS_URL: system.url } });
  const jsonLines = (entries: readonly unknown[]) => entries.map((entry) => JSON.stringify(entry)).join('\n');

  it('log --trace appends entries and shows the summary, and the entries since', async () => {
    const session = newSession('cli');
    const added = await run(
      ['publish', 'trace', '-s', session],
      jsonLines([...steps(21), { intent_id: 'INT-1' }]),
    );
    expect(added).toMatchObject({ code: 0, stdout: '21 entries added\n' });
    expect(added.stderr).toContain('-- entry 22 skipped: action_type');
    const shown = await run(['log', '-s', session, '--trace', 'INT-1']);
    const { summary, recent } = await system.client.traces.compact({ session, intentId: 'INT-1' });
    expect(shown).toMatchObject({ code: 0, stdout: `${[summary, ...recent].join('\n')}\n` });
    expect(shown.stderr).toContain('-- 21 entries, 20 of them compacted');
  });

  it('log --trace gets an entry with its output', async () => {
    const session = newSession('cli');
    const result = { status: 'FAILURE' as const, output_summary: `line one\n${'x'.repeat(5000)}\nthe end` };
    await run(['publish', 'trace', '-s', session], jsonLines([step(1, { result })]));
    const got = await run(['log', '--entry', 'step-1', '-s', session]);
    expect(got.code).toBe(0);
    expect(got.stdout).toMatch(
      /^id: {10}step-1\n[\s\S]*error: {7}the end\noutput:\n> line one\n> x+\n\.\.\. \(3017 of 5017 characters not kept\) \.\.\.\n> x+\n> the end\n$/,
    );
    const [stored] = await sequencesOf(system, session);
    expect(got.stderr).toContain(`event ${stored} of session ${session}`);
    const json = await run(['log', '--entry', 'step-1', '-s', session, '--json']);
    expect(JSON.parse(json.stdout)).toEqual(await system.client.traces.get({ session, id: 'step-1' }));
  });

  it.each([
    ['an unknown entry', ['log', '--entry', 'step-9', '-s', 'refused'], 3, /no trace entry "step-9"/],
    ['no entries', ['publish', 'trace', '-s', 'refused'], 2, /no entries.*\(usage\)/],
  ])('the trace on the command line refuses %s', async (_name, args, code, text) => {
    expect(await run(args)).toEqual({ code, stdout: '', stderr: expect.stringMatching(text) });
  });
});
