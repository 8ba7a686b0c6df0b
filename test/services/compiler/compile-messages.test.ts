import { expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { implementer, recorded } from '../../support/builders.js';
import { REQUESTS, startStepProxy } from '../../support/faults/step-proxy.js';
import { startTestNats } from '../../support/nats-server.js';
import { newSession, soon, startSystem } from '../../support/system.js';

it('a warm prompt takes one message to the server before its reply, and one to keep the prompt', async () => {
  await using nats = await startTestNats();
  await using proxy = await startStepProxy(nats.url, REQUESTS);
  await using system = await startSystem({ nats: { ...nats, url: proxy.url }, only: ['compiler'] });
  const session = newSession('warm');
  await system.ports.log.append(token(session, 'session'), recorded(1, implementer()));
  proxy.killAt(Number.POSITIVE_INFINITY, () => {});
  const messages = async (taskPrompt: string) => {
    const from = proxy.steps.length;
    await system.client.compile({ session, taskId: 'next', taskPrompt });
    await soon(() => expect(proxy.steps.slice(from)).toContain(`compiled.${session}`));
    const sent = proxy.steps.slice(from).map((subject) => subject.replace(/^_INBOX\..*/, 'reply'));
    // Every 0.8 s a process looks for forgotten sessions, with or without prompts.
    return sent.filter((subject) => subject !== '$JS.API.DIRECT.GET.KV_session_lifecycle');
  };
  // The first one reads the session, and opens what the process keeps.
  await messages('Write part 1');
  for (let part = 2; part <= 5; part += 1)
    expect(await messages(`Write part ${part}`)).toEqual([
      `prompt.compile.${session}`,
      `$JS.API.DIRECT.GET.SESSION_${session}`,
      'reply',
      `compiled.${session}`,
    ]);
});
