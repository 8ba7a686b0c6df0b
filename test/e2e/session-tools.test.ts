import { describe, expect, it } from 'vitest';
import type { Token } from '../../src/contracts/names.js';
import { connectThroughline } from '../../src/index.js';
import { notesOf } from '../../src/memory/session/notebook.js';
import { numberOf } from '../../src/memory/session/task-board.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { startTestNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import {
  allDealtWith,
  eventsOf,
  freshState,
  manyResults,
  newestOf,
  newSession,
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
    const state = await freshState(system, session);
    const { board, dispatches } = state;
    expect([...board.tasks.keys()]).toEqual(firstIds(40));
    expect(notesOf(state).size).toBe(40);
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
