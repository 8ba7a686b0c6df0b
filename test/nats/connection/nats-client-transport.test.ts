import { headers } from 'nats';
import { expect, it } from 'vitest';
import { connectThroughline } from '../../../src/index.js';
import { plainConnection, startTestNats } from '../../support/nats-server.js';

it('the client transport says in plain words that another service answers', async () => {
  await using server = await startTestNats();
  const stranger = await plainConnection(server.url);
  stranger.subscribe('prompt.compile.>', { callback: (_, message) => message.respond('hello') });
  await stranger.flush();
  const client = await connectThroughline({ url: server.url });
  await expect(client.compile({ session: 'demo', taskId: '1', taskPrompt: 'x' })).rejects.toMatchObject({
    code: 'internal',
    message: 'prompt.compile.demo: the answer is not JSON. Does another service listen there?',
  });
  await client.close();
  await stranger.close();
});

it('a reply of another version is refused with both versions', async () => {
  await using server = await startTestNats();
  const later = await plainConnection(server.url);
  const version = headers();
  version.set('Throughline-Reply-Version', '2');
  later.subscribe('run.status.>', { callback: (_, message) => message.respond('{}', { headers: version }) });
  await later.flush();
  const client = await connectThroughline({ url: server.url });
  await expect(client.runs.status({ session: 'demo' })).rejects.toMatchObject({
    code: 'reply_invalid',
    message: expect.stringMatching(/^the service answered run\.status\.demo in version 2, .* version 1: /),
  });
  await client.close();
  await later.close();
});

it('the client transport says what to do where no service answers', async () => {
  await using server = await startTestNats();
  const client = await connectThroughline({ url: server.url });
  const asked = () => client.compile({ session: 'demo', taskId: '1', taskPrompt: 'x' });
  await expect(asked()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('start the services with "throughline up"'),
  });
  await client.close();
});
