import { describe, expect, it } from 'vitest';
import { SNAPSHOT_BUCKET, type Token } from '../../src/contracts/names.js';
import { newSession, systemOfFile } from '../support/system.js';

const system = await systemOfFile();

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
