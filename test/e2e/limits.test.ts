import { describe, expect, it } from 'vitest';
import { messageOf, ThroughlineError } from '../../src/contracts/errors.js';
import { connectThroughline } from '../../src/index.js';
import { plainConnection, startPrivateNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import { newSession, publishWork, startSystem } from '../support/system.js';

const IN_PROGRESS = 20;

const MAX_PAYLOAD = 4096;

const nats = await ofFile(startPrivateNats({ maxPayloadBytes: MAX_PAYLOAD }));
const system = await ofFile(
  startSystem({
    nats,
    env: { THROUGHLINE_TUNING: 'maxBodyBytes=1024' },
    fixed: { requestsInProgress: IN_PROGRESS },
  }),
);

describe('the requests of a session', () => {
  it('a session with too many requests in progress is refused with a time to try again, and then let through', async () => {
    const session = newSession('flood');
    const other = newSession('other');
    const { tools } = system.client;
    const flood = Array.from({ length: 10 * IN_PROGRESS }, () => tools.noteList({ session }));
    const quiet = tools.noteAdd({ session: other, content: 'not a flood' });
    const results = await Promise.allSettled(flood);
    expect((await quiet).note.id).toBe('NOT-1');
    const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(results.length - refused.length).toBeGreaterThanOrEqual(IN_PROGRESS);
    expect(refused.length).toBeGreaterThan(IN_PROGRESS);
    for (const error of refused) {
      expect(error).toMatchObject({ code: 'rate_limited', details: { most: IN_PROGRESS } });
      expect(messageOf(error)).toBe(
        `session ${session} has ${IN_PROGRESS} requests in progress: try again in 1000 ms`,
      );
    }
    expect(await tools.noteList({ session })).toMatchObject({ notes: [] });
  });
});

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
