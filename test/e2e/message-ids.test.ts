import { headers } from 'nats';
import { expect, it } from 'vitest';
import { DISPATCH_STREAM, dispatchSubject, type Token, token } from '../../src/contracts/names.js';
import type { Rejection } from '../../src/engine/ports/dispatch-source.js';
import { retryRejected } from '../../src/services/tools/result-queries.js';
import { allRejected } from '../support/all-rejected.js';
import { cli } from '../support/cli.js';
import { freshReader } from '../support/faults/clean-run.js';
import { plainConnection } from '../support/nats-server.js';
import { implemented, publishWire, publishWork, type System, startSystem } from '../support/system.js';

/** Message ids count for all sessions together: who can guess one can have another's result taken for a repetition. */

const OWN = /^b:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

async function storedAt({ ports }: System, sequence: number) {
  const jsm = await ports.connection.jetstreamManager();
  const { header, subject, data } = await jsm.streams.getMessage(DISPATCH_STREAM, { seq: sequence });
  return { id: header.get('Nats-Msg-Id'), subject, text: Buffer.from(data).toString() };
}

it('a message id holds the session and random bits, in each result that SDK and CLI publish', async () => {
  await using system = await startSystem({ only: [] });
  const body = JSON.stringify(implemented('1'));
  const published = [
    await publishWork(system.client, 'b', '1'),
    await publishWire(system.client, 'reviewer', 'b', { task_id: '1', assessment: 'approved' }),
    await system.client.publishText('b', 'implementer', body),
    await cli(['publish', 'implementer', '-s', 'b', '--json'], {
      env: { NATS_URL: system.url },
      input: body,
    }).then(({ stdout }): { sequence: number } => JSON.parse(stdout)),
  ];
  const ids = await Promise.all(published.map(async ({ sequence }) => (await storedAt(system, sequence)).id));
  for (const id of ids) expect(id).toMatch(OWN);
  expect(new Set(ids).size).toBe(ids.length);
});

it('a message id cannot be used up by another session when a rejected result is retried', async () => {
  await using system = await startSystem({ only: [] });
  const { rejected } = system.ports;
  const [attacker, session] = [token('a', 'session'), token('b', 'session')];
  const subject = dispatchSubject(session, 'implementer');
  for (const sequence of [1, 2, 3]) await rejected.put(rejectionOf(session, sequence));

  const publisher = await plainConnection(system.url);
  const guesses = [1, 2, 3].flatMap((n) => [`retry:${n}`, `b:retry:${n}`, `b:${n}`, `b:rejected:${n}:1`]);
  for (const guess of guesses) {
    const head = headers();
    head.set('Nats-Msg-Id', guess);
    await publisher.jetstream().publish(dispatchSubject(attacker, 'implementer'), '{}', { headers: head });
  }
  await publisher.close();
  for (const { id } of await allRejected(rejected)) {
    const sequence = await retryRejected(retrying(system), id);
    expect(await storedAt(system, sequence)).toMatchObject({
      subject,
      text: '{}',
      id: expect.stringMatching(OWN),
    });
  }
  expect(await allRejected(rejected)).toEqual([]);
});

function rejectionOf(session: Token, sequence: number): Rejection {
  return {
    session,
    role: 'implementer',
    subject: dispatchSubject(session, 'implementer'),
    at: new Date().toISOString(),
    code: 'schema_invalid',
    reason: 'x',
    body: Buffer.from('{}'),
    sequence,
  };
}

function retrying({ ports }: System) {
  return { ...ports, reader: freshReader(ports.log) };
}
