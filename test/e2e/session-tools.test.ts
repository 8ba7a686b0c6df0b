import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Token } from '../../src/contracts/names.js';
import { connectThroughline } from '../../src/index.js';
import { numberOf } from '../../src/memory/session/task-board.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { startTestNats, type TestNats } from '../support/nats-server.js';
import {
  allDealtWith,
  eventsOf,
  freshState,
  manyResults,
  newestOf,
  newSession,
  type System,
  startSystem,
} from '../support/system.js';

// Two processes' worth of services share the requests, so that commands meet in the log and not only in a queue.
let nats: TestNats;
let system: System;
let other: System;
let clients: ThroughlineClient[];
beforeAll(async () => {
  nats = await startTestNats();
  system = await startSystem({ nats });
  other = await startSystem({ nats, only: ['tools'] });
  clients = await Promise.all(Array.from({ length: 4 }, () => connectThroughline({ url: nats.url })));
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await other.stop();
  await system.stop();
  await nats.stop();
});

function clientAt(index: number): ThroughlineClient {
  const client = clients[index % clients.length];
  if (client === undefined) throw new Error('there is always a client');
  return client;
}

/** Adds so many tasks at once, over all connections. */
function addAll(session: Token, count: number, content = 'task') {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      clientAt(index).tools.taskAdd({ session, content: `${content} ${index}` }),
    ),
  );
}

const idsOf = (replies: readonly { readonly task: { readonly id: string } | null }[]) =>
  replies.map(({ task }) => task?.id ?? 'none');
const firstIds = (count: number) => Array.from({ length: count }, (_, index) => `TAS-${index + 1}`);
const byNumber = (ids: readonly string[]) => ids.toSorted((a, b) => numberOf(a) - numberOf(b));

describe('many at once', () => {
  it('20 task-adds at once from 4 connections give 20 ids', async () => {
    const session = newSession('adds');
    const replies = await addAll(session, 20);
    expect(byNumber(idsOf(replies))).toEqual(firstIds(20));
    const { board } = await freshState(system, session);
    expect([...board.tasks.keys()]).toEqual(firstIds(20));
    for (const { task } of replies) expect(board.tasks.get(task?.id ?? '')?.content).toBe(task?.content);
    expect(await eventsOf(system, session)).toHaveLength(20);
  });

  it('8 agents at once on 4 connections drain 100 tasks, no task twice', async () => {
    const session = newSession('drain');
    await addAll(session, 100);
    const drain = async (agent: number) => {
      const { tools } = clientAt(agent);
      const taken: string[] = [];
      for (;;) {
        const { task } = await tools.taskNext({ session, claim: `agent-${agent}` });
        if (task === null) return taken;
        expect(task).toMatchObject({ status: 'in_progress', claimed_by: `agent-${agent}` });
        taken.push(task.id);
        await tools.taskStatus({ session, id: task.id, status: 'completed' });
      }
    };
    const taken = await Promise.all(Array.from({ length: 8 }, (_, agent) => drain(agent)));
    expect(byNumber(taken.flat())).toEqual(firstIds(100));
    expect(taken.filter((each) => each.length > 0).length, 'agents that got something').toBeGreaterThan(1);
    for (const each of taken) expect(each, 'in the order of their numbers').toEqual(byNumber(each));
    const { board } = await freshState(system, session);
    for (const [agent, ids] of taken.entries()) {
      for (const id of ids) expect(board.tasks.get(id)?.claimed_by).toBe(`agent-${agent}`);
    }
  });

  it('one of two agents that ask for the only ready task gets it, and the other gets nothing', async () => {
    for (let round = 0; round < 10; round += 1) {
      const session = newSession('one');
      await addAll(session, 1);
      const answers = await Promise.all(
        ['x', 'y'].map((claim, index) => clientAt(index).tools.taskNext({ session, claim })),
      );
      expect(byNumber(idsOf(answers).filter((id) => id !== 'none'))).toEqual(['TAS-1']);
      const events = await eventsOf(system, session);
      expect(events.map(({ event }) => event.type)).toEqual(['task.added', 'task.claimed']);
    }
  });

  it('one content added from everywhere becomes one task, and the others learn its id', async () => {
    const session = newSession('same');
    const outcomes = await Promise.allSettled(
      clients.map((client) => client.tools.taskAdd({ session, content: 'the same' })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      expect(outcome.reason).toMatchObject({ code: 'duplicate', details: { id: 'TAS-1' } });
    }
  });

  it('dependencies added at once never close a cycle, even if each alone would be fine', async () => {
    const session = newSession('ring');
    await addAll(session, 4);
    const ring = [1, 2, 3, 4].map((n, index) =>
      clientAt(index).tools.taskDepends({ session, id: `${n}`, dependsOn: `${(n % 4) + 1}` }),
    );
    const refused = (await Promise.allSettled(ring)).filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'cycle', details: { cycle: { length: 5 } } } }]);
  });
});

describe('commands beside heavy ingest on the same session', () => {
  it('commands beside heavy ingest on the same session all succeed, and nothing of either is lost', async () => {
    const session = newSession('busy');
    const sent = manyResults(400).map(({ role, body }, index) =>
      clientAt(index).publishText(session, role, body),
    );
    const work = async (agent: number) => {
      const { tools } = clientAt(agent);
      for (let n = 0; n < 10; n += 1) {
        await tools.taskAdd({ session, content: `task ${n} of ${agent}` });
        await tools.noteAdd({ session, content: `note ${n} of ${agent}` });
      }
    };
    await Promise.all([...sent, ...Array.from({ length: 4 }, (_, agent) => work(agent))]);
    await allDealtWith(system.ports);
    const { board, notebook, dispatches } = await freshState(system, session);
    expect([...board.tasks.keys()]).toEqual(firstIds(40));
    expect(notebook.notes.size).toBe(40);
    const { implementer, reviewer, rejected } = dispatches.current().counts;
    expect({ results: implementer + reviewer, rejected }).toEqual({ results: 400, rejected: 0 });
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
