import { DiscardPolicy } from 'nats';
import { expect, it } from 'vitest';
import { isNoResponders, toThroughlineError } from '../../src/nats/errors.js';
import { startNatsPorts } from '../ports/opened.js';

it('tells a stream that is full from a server that does not answer, though the client gives both one code', async () => {
  const nats = await startNatsPorts();
  try {
    const { connection } = nats;
    const [jsm, jetstream] = [await connection.jetstreamManager(), connection.jetstream()];
    await jsm.streams.add({ name: 'small', subjects: ['small'], max_bytes: 100, discard: DiscardPolicy.New });
    const full: unknown = await jetstream.publish('small', 'x'.repeat(200)).catch((error: unknown) => error);
    const nobody: unknown = await connection.request('nobody').catch((error: unknown) => error);
    expect([full, nobody]).toMatchObject([{ code: '503' }, { code: '503' }]);
    expect([full, nobody].map(isNoResponders)).toEqual([false, true]);
    expect(toThroughlineError(full, 'storing')).toMatchObject({
      ...{ code: 'store_full', message: expect.stringMatching(/^storing: maximum bytes exceeded; raise /) },
    });
    expect(toThroughlineError(nobody, 'asking').code).toBe('unavailable');
  } finally {
    await nats.close();
  }
});
