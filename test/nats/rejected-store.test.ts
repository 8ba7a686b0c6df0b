import { expect, it } from 'vitest';
import { newSession, startNatsPorts } from '../ports/opened.js';
import { timeOf } from '../support/builders.js';

it.each([4096, 8192, 8193, 16_384])(
  'keeps a body whole where the server takes %i bytes in one message',
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
        ...{ code: 'too_large', reason: 'x', body },
      });
      const [entry] = await nats.rejected.list(10);
      expect(entry).toMatchObject({ bytes: body.length });
      expect((await nats.rejected.get(entry?.id ?? 0))?.body).toEqual(Buffer.from(body));
    } finally {
      await nats.close();
    }
  },
);
