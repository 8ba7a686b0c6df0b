import { expect, it } from 'vitest';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { connectThroughline } from '../../src/index.js';
import { plainConnection } from '../support/nats-server.js';
import { publishWork, startSystem } from '../support/system.js';

/** What `nats request` and most clients wait for an answer. */
const USUAL_MS = 5000;
const ASKED = { session: 'demo', taskId: '1', taskPrompt: 'x', after: 999 };

it('a client that waits for a result gets not_caught_up after five seconds, or sooner when it asks for less', async () => {
  await using system = await startSystem({ only: ['extractor', 'compiler'] });
  await publishWork(system.client, 'demo', '1');
  const usual = await plainConnection(system.url);
  const asked = (more: object) =>
    usual.request('prompt.compile', JSON.stringify({ ...ASKED, ...more }), { timeout: USUAL_MS });
  const shorter = await asked({ afterTimeoutMs: 100 });
  expect(shorter.json()).toMatchObject({
    error: { code: 'not_caught_up', message: expect.stringContaining('after 100 ms') },
  });
  expect((await asked({})).json()).toMatchObject({
    error: { code: 'not_caught_up', message: expect.stringContaining('after 4500 ms') },
  });
  await usual.close();

  await using impatient = await connectThroughline({ url: system.url, timeoutMs: 1000 });
  await expect(impatient.compile(ASKED)).rejects.toMatchObject({ code: 'not_caught_up' });
});

it('a flood of requests that wait for a result is refused beyond a limit with a time to try again, and delays no other session', async () => {
  await using system = await startSystem({ only: ['extractor', 'compiler'] });
  const { sequence } = await publishWork(system.client, 'other', '1');
  const flood = Array.from({ length: 500 }, () =>
    system.client.compile({ ...ASKED, afterTimeoutMs: 2000 }).catch((error: ThroughlineError) => error),
  );
  await system.client.compile({ ...ASKED, session: 'other', after: sequence });
  const ended = (await Promise.all(flood)).map((each) =>
    each instanceof ThroughlineError ? each : undefined,
  );
  const refused = ended.filter((each) => each?.code === 'rate_limited');
  expect(refused.length).toBeGreaterThan(200);
  expect(refused[0]?.details).toMatchObject({
    retryAfterMs: expect.any(Number),
    most: 200,
  });
  expect(ended.filter((each) => each?.code === 'not_caught_up').length).toBeGreaterThan(50);
  // Each has given its place back.
  const later = system.client.compile({ ...ASKED, afterTimeoutMs: 50 });
  await expect(later).rejects.toMatchObject({ code: 'not_caught_up' });
});
