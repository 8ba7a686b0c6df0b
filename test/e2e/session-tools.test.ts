import { describe, expect, it } from 'vitest';
import { SNAPSHOT_BUCKET, type Token } from '../../src/contracts/names.js';
import { connectThroughline } from '../../src/index.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { startTestNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import {
  eventsOf,
  newestOf,
  newSession,
  publishReview,
  publishWork,
  soon,
  startSystem,
} from '../support/system.js';

// Two processes' worth of services share the requests, so that commands meet in the log and not only in a queue.
const nats = await ofFile(startTestNats());
const system = await ofFile(startSystem({ nats }));
await ofFile(startSystem({ nats, only: ['tools'] }));
const clients = await Promise.all(
  Array.from({ length: 4 }, () => ofFile(connectThroughline({ url: nats.url }))),
);

function clientAt(index: number): ThroughlineClient {
  const client = clients[index % clients.length];
  if (client === undefined) throw new Error('there is always a client');
  return client;
}

describe('a claim', () => {
  it('a claim lives by its lease: renewed without an event, and free once the lease has ended', async () => {
    const session = newSession('lease');
    const { tools } = clientAt(0);
    await tools.taskAdd({ session, content: 'task' });
    const claimed = async () =>
      (await eventsOf(system, session)).flatMap(({ event }) =>
        event.type === 'task.claimed' ? [event.data.agent] : [],
      );
    const mine = { session, claim: 'x', ttlMs: 1500 };
    for (let renewals = 0; renewals < 6; renewals += 1) {
      await tools.taskNext(mine);
      await expect(tools.taskNext({ session, id: '1', claim: 'y' })).rejects.toMatchObject({
        code: 'conflict',
        details: { holder: 'x' },
      });
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    expect(await claimed()).toEqual(['x']);
    await soon(async () => {
      expect(await clientAt(1).tools.taskNext({ session })).toMatchObject({ task: { id: 'TAS-1' } });
    });
    expect(await clientAt(1).tools.taskNext({ session, claim: 'y' })).toMatchObject({
      task: { id: 'TAS-1', claimed_by: 'y' },
    });
    expect(await claimed()).toEqual(['x', 'y']);
    await expect(tools.taskNext({ ...mine, id: '1' })).rejects.toMatchObject({ details: { holder: 'y' } });
  });

  it('a holder that has returned its work gives way, unless it has renewed its claim since', async () => {
    const session = newSession('returned');
    const { tools, runs } = clientAt(0);
    await runs.init({ session, spec: 'parser', tasksText: '- [ ] 1. Lexer\n- [ ] 2. Parser\n' });
    for (const id of ['1', '2']) {
      await tools.taskNext({ session, id, claim: 'x' });
      await publishWork(clientAt(0), session, id, {}, { wait: true });
    }
    await tools.taskNext({ session, id: '1', claim: 'x' });
    await expect(tools.taskNext({ session, id: '1', claim: 'y' })).rejects.toMatchObject({
      code: 'conflict',
      details: { holder: 'x' },
    });
    expect(await tools.taskNext({ session, id: '2', claim: 'y' })).toMatchObject({
      plan: { claimed_by: 'y' },
    });
  });
});

describe('an answer', () => {
  it('an answer of a tool says which sequence it reflects, and includes what any connection wrote before', async () => {
    const session = newSession('reads');
    for (let n = 1; n <= 12; n += 1) {
      const { sequence } = await clientAt(n).tools.noteAdd({ session, content: `${n}` });
      expect(sequence).toBe(await newestOf(system, session));
      expect((await clientAt(n + 1).tools.noteList({ session })).notes).toHaveLength(n);
    }
  });
});

/** Variables that differ between processes, some of them unknown. */
const ODD = {
  THROUGHLINE_MAX_FACTS: '10',
  THROUGHLINE_STALL_THRESHOLDS: '1',
  THROUGHLINE_IMPLEMENTER_TOKENS: '500',
  THROUGHLINE_TUNING: 'snapshotEvery=2 cacheMb=1',
};

describe('two compilers with different environments', () => {
  it('two compilers with different environments compile the same bytes from the same log', async () => {
    const plain = system;
    const session = newSession('settings');
    await plain.client.tools.sessionOpen({ session, goal: 'A parser' });
    for (let round = 0; round < 6; round += 1) {
      await publishWork(plain.client, session, '1', { summary: `Round ${round}` });
      await publishReview(plain.client, session, '1', 'needs_changes');
    }
    const { sequence: after } = await publishWork(plain.client, session, '2');
    const request = { session, taskId: '1', taskPrompt: 'Extend the parser', after };
    const first = await plain.client.compile(request);
    expect(first.budget).toMatchObject({ room: 3600, tokenizer: 'approximate' });
    await using odd = await startSystem({ nats, env: ODD, only: ['compiler'] });
    const prompts = await Promise.all(Array.from({ length: 10 }, () => odd.client.compile(request)));
    expect(new Set(prompts.map(({ prompt }) => prompt))).toEqual(new Set([first.prompt]));
    expect(first.prompt).toContain('ping_pong');
  });
});

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
  it('the end of an iteration leaves a snapshot that holds it, also if the next one ends it', async () => {
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
    await system.client.tools.iterationStart({ session: name });
    const next = await system.client.tools.iterationStart({ session: name });
    expect(await system.ports.snapshots.load(name)).toMatchObject({ sequence: next.sequence });
  });
});
