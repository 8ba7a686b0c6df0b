import type { NatsConnection } from 'nats';
import { expect, it } from 'vitest';
import type { StreamMessage } from '../../../src/nats/jetstream/direct-get.js';
import { GONE, KEPT, KvBucket, LIFECYCLE_STREAM } from '../../../src/nats/stores/kv-bucket.js';
import { newSession, twoOnNats } from '../../engine/ports/opened.js';

const opened = await twoOnNats();
const OPTIONS = { replicas: 1, timeoutMs: 5000 };

/** Returns buckets of two processes; one reads from a replica that lags from some point on. */
async function lagging(key: string, first: object | undefined, then: object) {
  const { connection } = opened.nats;
  const leader = new KvBucket(opened.other.connection, OPTIONS);
  // Creates the stream.
  await leader.write('before', () => ({ any: 1 }));
  if (first !== undefined) await leader.write(key, () => first);
  const subject = `$JS.API.DIRECT.GET.${LIFECYCLE_STREAM}.$KV.session_lifecycle.${key}`;
  const stale = await connection.request(subject, '');
  await leader.write(key, () => then);
  const replica = new Proxy(connection, {
    get(target, name) {
      if (name === 'request')
        return async (...args: Parameters<NatsConnection['request']>) =>
          args[0] === subject ? stale : target.request(...args);
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { leader, behind: new KvBucket(replica, OPTIONS) };
}

const textOf = (message: StreamMessage | undefined) =>
  message && JSON.parse(Buffer.from(message.data).toString());

it('a record is kept by what the leader holds, and not by what a replica shows that lags behind', async () => {
  const key = newSession('kept');
  const { behind } = await lagging(key, { of: 'one' }, { of: 'other' });
  const asked: unknown[] = [];
  await behind.write(key, (last) => {
    asked.push(textOf(last));
    return KEPT;
  });
  expect(asked).toEqual([{ of: 'other' }]);
  expect(textOf(await behind.get(key))).toEqual({ of: 'other' });
});

it('what a replica that lags behind shows as stored already is stored again', async () => {
  const key = newSession('stored');
  const { leader, behind } = await lagging(key, { of: 'one' }, { of: 'other' });
  expect(await behind.write(key, () => ({ of: 'one' }))).toEqual(expect.any(Number));
  expect(textOf(await leader.get(key))).toEqual({ of: 'one' });
});

it('a record that a replica does not show yet goes without a trace', async () => {
  const key = newSession('gone');
  const { leader, behind } = await lagging(key, undefined, { of: 'one' });
  await behind.write(key, () => GONE);
  expect(await leader.get(key)).toBeUndefined();
});
