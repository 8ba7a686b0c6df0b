import { AckPolicy, connect, DiscardPolicy, NatsError } from 'nats';
import { expect, it } from 'vitest';
import { API, isNoResponders, toThroughlineError } from '../../../src/nats/connection/nats-errors.js';
import { startNatsPorts } from '../../engine/ports/opened.js';
import { startPrivateNats } from '../../support/nats-server.js';
import { afterTest } from '../../support/of-file.js';

it('the error of a full stream differs from that of a server that does not answer, though the client gives both one code', async () => {
  const nats = await startNatsPorts();
  afterTest(() => nats.close());
  const { connection } = nats;
  const [jsm, jetstream] = [await connection.jetstreamManager(), connection.jetstream()];
  await jsm.streams.add({ name: 'small', subjects: ['small'], max_bytes: 100, discard: DiscardPolicy.New });
  const full: unknown = await jetstream.publish('small', 'x'.repeat(200)).catch((error: unknown) => error);
  const nobody: unknown = await connection.request('nobody').catch((error: unknown) => error);
  expect([full, nobody]).toMatchObject([{ code: '503' }, { code: '503' }]);
  expect([full, nobody].map(isNoResponders)).toEqual([false, true]);
  expect(toThroughlineError(full, 'storing')).toMatchObject({
    code: 'store_full',
    message: expect.stringMatching(/^storing: maximum bytes exceeded; raise /),
  });
  expect(toThroughlineError(nobody, 'asking').code).toBe('unavailable');
});

it('the error at the limit of streams or consumers says that no more can be made, and what to do', async () => {
  await using nats = await startPrivateNats({
    extraConfig:
      'accounts { A { users: [{user: a, password: a}], jetstream { max_streams: 1, max_consumers: 1 } } }\nno_auth_user: a',
  });
  const connection = await connect({ servers: nats.url });
  const jsm = await connection.jetstreamManager();
  const streams = () =>
    jsm.streams.add({ name: `s${Math.random()}`.replace('.', ''), subjects: [`s${Math.random()}`] });
  const { config } = await streams();
  const consumers = () =>
    jsm.consumers.add(config.name, {
      durable_name: `c${Math.random()}`.replace('.', ''),
      ack_policy: AckPolicy.Explicit,
    });
  await consumers();
  for (const [make, fix] of [
    [streams, 'raise max_streams'],
    [consumers, 'raise max_consumers'],
  ] as const) {
    const refused: unknown = await make().catch((error: unknown) => error);
    expect(toThroughlineError(refused, 'making')).toMatchObject({
      code: 'store_full',
      message: expect.stringContaining(fix),
    });
  }
  await connection.close();
});

it('the error of a stream whose servers are down says that it may be tried again, and what to do', () => {
  const api_error = { code: 500, err_code: API.streamOffline, description: 'stream is offline' };
  const offline = Object.assign(new NatsError('stream is offline', '500'), { api_error });
  expect(toThroughlineError(offline, 'listing')).toMatchObject({
    code: 'unavailable',
    message: 'listing: stream is offline; start the servers of the cluster that hold it',
  });
});
