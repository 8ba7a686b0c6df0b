import { describe, expect, it } from 'vitest';
import { connectThroughline } from '../../src/index.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { startTestNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import { eventsOf, newestOf, newSession, startSystem } from '../support/system.js';

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

describe('many at once', () => {
  it('one of two agents that ask for the only ready task gets it, and the other gets nothing', async () => {
    for (let round = 0; round < 10; round += 1) {
      const session = newSession('one');
      await clientAt(0).tools.taskAdd({ session, content: 'task' });
      const answers = await Promise.all(
        ['x', 'y'].map((claim, index) => clientAt(index).tools.taskNext({ session, claim })),
      );
      expect(answers.flatMap(({ task }) => task?.id ?? [])).toEqual(['TAS-1']);
      const events = await eventsOf(system, session);
      expect(events.map(({ event }) => event.type)).toEqual(['task.added', 'task.claimed']);
    }
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
