import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPILE_SUBJECT, SNAPSHOT_BUCKET, type Token } from '../../src/contracts/names.js';
import { newSession, type System, startSystem } from '../support/system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

/** A session with two tasks, the first of which waits for the second. */
async function session(): Promise<Token> {
  const session = newSession('wire');
  const { tools } = system.client;
  for (const content of ['a', 'b']) await tools.taskAdd({ session, content });
  await tools.taskDepends({ session, id: '1', dependsOn: '2' });
  await tools.iterationStart({ session });
  await tools.iterationSummary({ session, summary: 'first' });
  return session;
}

describe('the end of an iteration', () => {
  it('the end of an iteration leaves a snapshot that holds it', async () => {
    const name = await session();
    expect(await system.ports.snapshots.load(name)).toBeUndefined();
    const { sequence } = await system.client.tools.iterationComplete({ session: name });
    const snapshot = await system.ports.snapshots.load(name);
    expect(snapshot?.sequence).toBe(sequence);
    const kv = await system.ports.connection.jetstream().views.kv(SNAPSHOT_BUCKET);
    expect((await kv.get(name))?.json()).toMatchObject({
      after_sequence: sequence,
      v: 1,
      state: { iterations: [{ number: 1, complete: true, summary: 'first' }], last: { task: 2 } },
    });
  });
});

describe('the start of an iteration', () => {
  it('the start of an iteration ends the one before it, and leaves a snapshot of that', async () => {
    const name = await session();
    const { sequence } = await system.client.tools.iterationStart({ session: name });
    expect(await system.ports.snapshots.load(name)).toMatchObject({ sequence });
  });
});

describe('prompt.compile of kind iteration', () => {
  it('an iteration prompt has the same bytes each time, and those of the past with asOf', async () => {
    const name = await session();
    const { client } = system;
    const ask = (asOf?: number) =>
      client.compile({ kind: 'iteration', session: name, ...(asOf && { asOf }) });
    const then = await ask();
    expect(then.prompt).toContain(
      `Session: ${name} | Iteration: #1\nBoard: 1 ready | 1 waiting | 0 completed`,
    );
    expect(then.prompt).toContain('  - [P2] [TAS-1] a (blocked by: TAS-2)\n');
    expect((await ask()).prompt).toBe(then.prompt);
    await client.tools.taskStatus({ session: name, id: '2', status: 'completed' });
    await client.tools.iterationComplete({ session: name });
    const now = await ask();
    expect(now.prompt).not.toBe(then.prompt);
    expect(now.sequence).toBe(then.sequence + 2);
    const past = await ask(then.sequence);
    expect(past).toMatchObject({
      prompt: then.prompt,
      sequence: then.sequence,
      tokenEstimate: then.tokenEstimate,
    });
    expect((await ask(now.sequence)).prompt).toBe(now.prompt);
  });

  it('an iteration prompt takes a template, and refuses one with unknown placeholders', async () => {
    const name = await session();
    const ask = (template: string) => system.client.compile({ kind: 'iteration', session: name, template });
    expect((await ask('{{session}}: {{ready_count}}')).prompt).toBe(`${name}: 1`);
    await expect(ask('{{session}}\n{{reday_count}}')).rejects.toMatchObject({
      code: 'template_invalid',
      message: expect.stringContaining('{{reday_count}} in line 2'),
      details: { unknown: ['reday_count'] },
    });
  });

  it('prompt.compile refuses an unknown kind', async () => {
    const body = JSON.stringify({ kind: 'poem', session: 'x' });
    const reply = await system.ports.connection.request(COMPILE_SUBJECT, body, { timeout: 5000 });
    expect(reply.json()).toMatchObject({
      error: { code: 'schema_invalid', message: expect.stringMatching(/kind/) },
    });
  });
});
