import { expect, it } from 'vitest';
import { dispatchSubject, type Token } from '../../src/contracts/names.js';
import type { Rejection } from '../../src/engine/ports/dispatch-source.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { type ExtractorPorts, startExtractor } from '../../src/services/extractor/extractor-worker.js';
import { cli } from '../support/cli.js';
import { freshReader } from '../support/faults/clean-run.js';
import { allDealtWith, eventsOf, implemented, newSession, soon, startSystem } from '../support/system.js';

/** A result that has counted is acknowledged, whatever has become of its session since. */

const ENV = { THROUGHLINE_TUNING: 'ackWaitMs=500' };
const BURST = 80;

/** Ports of a worker that is killed before it acknowledges or rejects anything. */
function unacknowledged(ports: ExtractorPorts): ExtractorPorts {
  const lost = () => {};
  const consume: ExtractorPorts['source']['consume'] = (handler, hasCapacity) =>
    ports.source.consume(
      (delivery) =>
        handler({
          ...delivery,
          subject: delivery.subject,
          body: delivery.body,
          sequence: delivery.sequence,
          at: delivery.at,
          delivery: delivery.delivery,
          ack: lost,
          working: lost,
          nak: lost,
          term: lost,
        }),
      hasCapacity,
    );
  return { ...ports, source: { ...ports.source, consume } };
}

it('a burst that was stored and not acknowledged counts once, although its session is archived and reopened', async () => {
  await using system = await startSystem({ env: ENV, only: ['compiler', 'tools', 'keeper'] });
  const { ports, config, client } = system;
  const session = newSession('burst');
  const lifecycle = await ports.openLifecycle();
  const { maxBodyBytes, maxDeliveries, maxInHand, ackWaitMs } = config;
  const options = { maxBodyBytes, maxDeliveries, maxInHand, ackWaitMs, random: Math.random };
  const worker = { ...ports, lifecycle, reader: freshReader(ports.log), logger: silentLogger };

  const killed = await startExtractor(unacknowledged(worker), options);
  await publishBurst(session);
  await soon(async () => expect(await eventsOf(system, session)).toHaveLength(BURST));
  await killed.stop();

  await client.send('tool.session-archive', { session });
  await soon(() => expect(lifecycle.archived(session)).toBeDefined());
  const next = await startExtractor(worker, options);
  await allDealtWith(ports);
  expect((await client.tools.rejectedList({ session })).rejected).toEqual([]);
  expect(next.stats).toMatchObject({ rejected: 0 });
  expect((await client.runs.status({ session })).session.dispatches).toMatchObject({
    implementer: BURST,
    rejected: 0,
  });
  await next.stop();
  lifecycle.close();

  async function publishBurst(to: Token): Promise<void> {
    for (let task = 0; task < BURST; task += 1)
      await ports.source.publish(dispatchSubject(to, 'implementer'), bodyOf(`${task}`));
  }
});

it('a retry of a rejected result that has counted says so and publishes nothing; the others are retried', async () => {
  await using system = await startSystem({ env: ENV });
  const { ports, client, url } = system;
  const session = newSession('counted');
  const { sequence } = await ports.source.publish(dispatchSubject(session, 'implementer'), bodyOf('1'));
  await client.compile({ session, taskId: '2', taskPrompt: 'next', after: sequence });
  const rejection: Rejection = {
    session,
    role: 'implementer' as const,
    subject: dispatchSubject(session, 'implementer'),
    sequence,
    at: '2026-11-01T10:00:00.000Z',
    code: 'session_archived',
    reason: 'archived',
    body: bodyOf('1'),
  };
  await ports.rejected.put(rejection);
  const [counted] = (await client.tools.rejectedList({ session })).rejected;
  const id = counted?.id ?? 0;
  for (const body of [undefined, bodyOf('1 again').toString()])
    await expect(client.tools.rejectedRetry({ id, ...(body && { body }) })).rejects.toMatchObject({
      code: 'duplicate',
      message: expect.stringContaining(`result ${sequence} `),
      details: { id, dispatch: sequence },
    });

  const unread = await ports.source.publish(dispatchSubject(session, 'reviewer'), Buffer.from('{}'));
  const ids = await soon(async () => {
    const { rejected } = await client.tools.rejectedList({ session });
    expect(rejected).toHaveLength(2);
    return rejected.map((each) => String(each.id)).reverse();
  });
  const retried = await cli(['result', 'retry', ...ids, '--json'], { env: { NATS_URL: url } });
  expect(retried).toMatchObject({ code: 1, stderr: expect.stringContaining(`${id} has counted`) });
  expect(JSON.parse(retried.stdout)).toEqual({ id: expect.any(Number), sequence: unread.sequence + 1 });
  await allDealtWith(ports);
  expect(await ports.source.newest()).toBe(unread.sequence + 1);
  const { dispatches } = (await client.runs.status({ session })).session;
  expect(dispatches).toMatchObject({ implementer: 1 });
});

function bodyOf(task: string): Buffer {
  return Buffer.from(JSON.stringify(implemented(task)));
}
