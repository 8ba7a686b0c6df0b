import { expect, it } from 'vitest';
import { newSession, startNatsPorts, startPrivatePorts } from '../../engine/ports/opened.js';
import { allRejected } from '../../support/all-rejected.js';
import { timeOf } from '../../support/builders.js';
import { afterTest } from '../../support/of-file.js';
import { soon } from '../../support/soon.js';

it.each([4096, 16_384])(
  'the rejected store gives a body whole that fills a message, with the rest of DISPATCH, where the server takes %i bytes',
  async (maxPayloadBytes) => {
    const nats = await startPrivatePorts({ maxPayloadBytes });
    const body = new Uint8Array(maxPayloadBytes).map((_, index) => index % 251);
    const subject = 'dispatch.demo.reviewer';
    afterTest(() => nats.close());
    nats.connection.publish(subject, body);
    await soon(async () => expect(await nats.source.newest()).toBe(1));
    const jsm = await nats.connection.jetstreamManager();
    const at = (await jsm.streams.getMessage('DISPATCH', { seq: 1 })).time.toISOString();
    const rejected = { session: newSession(), role: 'reviewer', subject, sequence: 1, at } as const;
    await nats.rejected.put({ ...rejected, code: 'too_large', reason: 'x', body });
    const [{ id, bytes } = { id: 0, bytes: 0 }] = await allRejected(nats.rejected);
    expect(bytes).toBe(body.length);
    expect(Buffer.from((await nats.rejected.get(id))?.body ?? [])).toEqual(Buffer.from(body));
    await jsm.streams.purge('DISPATCH');
    await expect(nats.rejected.get(id)).rejects.toMatchObject({ code: 'not_found' });
  },
);

it('the rejected store shows every rejection among however many messages that are none, each with what it is', async () => {
  const nats = await startNatsPorts();
  const many = 10_050;
  afterTest(() => nats.close());
  const { connection } = nats;
  for (let each = 0; each < many; each += 1) connection.publish('rejected.demo.reviewer', 'none');
  await connection.flush();
  const rejected = {
    session: newSession(),
    role: 'reviewer',
    subject: 'dispatch.demo.reviewer',
    sequence: 1,
    at: timeOf(1),
    code: 'schema_invalid',
    reason: 'x',
    body: new Uint8Array(1),
  } as const;
  await nats.rejected.put(rejected);
  connection.publish('rejected.demo.reviewer', 'none');
  await connection.flush();
  const jsm = await connection.jetstreamManager();
  await soon(async () => expect((await jsm.streams.info('DISPATCH_REJECTED')).state.messages).toBe(many + 2));
  const all = await allRejected(nats.rejected);
  expect(all).toHaveLength(many + 2);
  expect(all.filter(({ code }) => code !== 'stored_reply')).toMatchObject([{ id: many + 1, sequence: 1 }]);
  const reply = {
    code: 'stored_reply',
    reason: expect.stringContaining('not a rejected result'),
    bytes: 4,
  };
  expect(all.at(-1)).toMatchObject({
    ...reply,
    id: many + 2,
    subject: 'rejected.demo.reviewer',
    sequence: 0,
  });
  expect(Date.parse(all.at(-1)?.at ?? '')).toBeGreaterThan(0);
  expect(await nats.rejected.get(many + 2)).toMatchObject({ ...reply, body: Buffer.from('none') });
  expect(await nats.rejected.remove(many + 2)).toBe(true);
  expect(await nats.rejected.get(many + 2)).toBeUndefined();
});
