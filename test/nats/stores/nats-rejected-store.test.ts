import { headers } from 'nats';
import { expect, it } from 'vitest';
import { newSession, startNatsPorts } from '../../ports/opened.js';
import { timeOf } from '../../support/builders.js';

it.each([4096, 8192, 8193, 16_384])(
  'the rejected store keeps a body whole where the server takes %i bytes in one message',
  async (maxPayloadBytes) => {
    const nats = await startNatsPorts({ maxPayloadBytes });
    const body = new Uint8Array(maxPayloadBytes).map((_, index) => index % 251);
    try {
      await nats.rejected.put({
        ...{
          session: newSession(),
          role: 'reviewer',
          subject: 'dispatch.demo.reviewer',
          sequence: 1,
          at: timeOf(1),
        },
        code: 'too_large',
        reason: 'x',
        body,
      });
      const [entry] = await nats.rejected.list(10);
      expect(entry).toMatchObject({ bytes: body.length });
      expect((await nats.rejected.get(entry?.id ?? 0))?.body).toEqual(Buffer.from(body));
    } finally {
      await nats.close();
    }
  },
);

it('the rejected store gives an old rejection without a retry id one that is always the same', async () => {
  const nats = await startNatsPorts();
  try {
    const head = headers();
    for (const [name, value] of Object.entries({
      'Throughline-Error-Code': 'schema_invalid',
      'Throughline-Error-Reason': 'x',
      'Throughline-Dispatch-Sequence': '1',
      'Throughline-Dispatch-Subject': 'dispatch.demo.reviewer',
      'Throughline-Dispatch-Time': timeOf(1),
    }))
      head.set(name, value);
    for (const _ of [1, 2])
      await nats.connection.jetstream().publish('rejected.demo.reviewer', '{}', { headers: head });
    const found = await Promise.all([1, 1, 2].map(async (id) => (await nats.rejected.get(id))?.retryId));
    expect(found[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(found[1]).toBe(found[0]);
    expect(found[2]).toMatch(/^[0-9a-f]{64}$/);
  } finally {
    await nats.close();
  }
});
