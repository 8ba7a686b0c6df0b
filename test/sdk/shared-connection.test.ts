import { expect, it } from 'vitest';
import { createThroughlineClient, type Result } from '../../src/index.js';
import { plainConnection } from '../support/nats-server.js';
import { afterTest, ofFile } from '../support/of-file.js';
import { startSystem } from '../support/system.js';

/** A client on a connection of the caller's own. */

const system = await ofFile(startSystem());

const RESULT: Result<'implementer'> = { taskId: '1', status: 'completed', summary: 'Parser done' };

it('a client publishes and asks over an existing connection, and leaves it open', async () => {
  const connection = await plainConnection(system.url);
  afterTest(() => connection.close());
  const client = createThroughlineClient(connection);
  const { sequence: after } = await client.session('shared').publish('implementer', RESULT);
  const reply = await client.compile({ session: 'shared', taskId: '2', taskPrompt: 'Extend it', after });
  expect(reply.factsTotal).toBe(2);
  await client.close();
  expect(connection.isClosed()).toBe(false);
  const another = createThroughlineClient(connection);
  expect(await another.session('shared').publish('implementer', RESULT)).toEqual({ sequence: after + 1 });
  await another.close();
});

it('a client on an existing connection listens below the inbox prefix of that connection', async () => {
  const connection = await plainConnection(system.url, { inboxPrefix: '_INBOX_mine' });
  const watcher = await plainConnection(system.url);
  afterTest(() => connection.close());
  afterTest(() => watcher.close());
  const replies = watcher.subscribe('_INBOX_mine.>', { max: 1 });
  const client = createThroughlineClient(connection, { inboxPrefix: '_INBOX_mine' });
  await watcher.flush();
  const { sequence } = await client.session('shared').publish('implementer', RESULT);
  for await (const message of replies) expect(message.json()).toMatchObject({ seq: sequence });
  await client.close();
});
