import { expect, it } from 'vitest';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { examine } from '../../src/nats/doctor/examine.js';
import { doctor, EXPECTED, of } from '../support/doctor.js';
import { startFaultyServer } from '../support/faults/server.js';
import { eventsOf, publishWork, soon, startSystem } from '../support/system.js';

it('a full store is reported with the fix, by everything that wants to store and by the doctor', async () => {
  await using server = await startFaultyServer({ maxFileStore: 50_000 });
  await using system = await startSystem({ nats: server });
  await publishWork(system.client, 'full', '1');
  await soon(async () => expect((await eventsOf(system, 'full')).length).toBe(1));

  let refused: unknown;
  await soon(async () => {
    await publishWork(system.client, 'full', '2', { summary: 'x'.repeat(3000) }).catch((error: unknown) => {
      refused = error;
    });
    expect(refused).toBeInstanceOf(ThroughlineError);
    expect(refused).toMatchObject({ code: 'store_full' });
  });
  expect(refused).toMatchObject({ message: expect.stringMatching(/was not stored: .+max_file_store/) });
  await expect(system.client.tools.taskAdd({ session: 'full', content: 'One more' })).rejects.toMatchObject({
    code: 'store_full',
  });

  const { code, found } = await soon(async () => {
    const answered = await doctor(server.url);
    expect(of(answered.found, 'service session-tools')).toMatchObject([{ level: 'fail' }]);
    return answered;
  });
  expect(code).toBe(1);
  const later = { ...EXPECTED, now: () => Date.now() + 3_600_000 };
  const stale = await examine(system.ports.connection, later);
  expect(of(stale, 'service session-tools')).toMatchObject([{ level: 'warn' }]);
  expect(of(found, 'service session-tools')).toMatchObject([
    { message: expect.stringContaining('store_full'), fix: expect.stringContaining('max_file_store') },
  ]);
});
