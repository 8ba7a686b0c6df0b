import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { RecordedLayout } from '../../../src/nats/jetstream/layout-record.js';
import { ClaimLost } from '../../../src/nats/jetstream/moving-streams.js';
import { twoOnNats } from '../../ports/opened.js';

const LONGER_THAN_TRUSTED_MS = 700;

const opened = twoOnNats();

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it('a process that stood still while another one changed the layout may do nothing, however many ask at once', async () => {
  const { moving } = opened.nats;
  await moving.recorded();
  await moving.claim();
  const another = opened.other.moving;
  const record: RecordedLayout = await another.recorded();
  await another.replace(record, { layout: 'moving', shards: 2, towards: 'sharded' });

  standStill(LONGER_THAN_TRUSTED_MS);
  let known = false;
  const first = Promise.resolve(moving.claimed()).catch((error: unknown) => {
    known = true;
    return error;
  });
  const later: unknown[] = [];
  while (!known) {
    later.push(Promise.resolve(moving.claimed()).catch((error: unknown) => error));
    await wait(1);
  }

  expect(await first).toBeInstanceOf(ClaimLost);
  expect(await Promise.all(later)).toEqual(later.map(() => expect.any(ClaimLost)));
});
