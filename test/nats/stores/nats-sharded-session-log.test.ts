import { type JetStreamManager, NatsError } from 'nats';
import { expect, it } from 'vitest';
import { API } from '../../../src/nats/connection/nats-errors.js';
import type { StorePorts } from '../../../src/nats/jetstream/topology.js';
import { NatsSessionLog } from '../../../src/nats/stores/nats-event-log.js';

it('the session log in shards does not say which sessions there are while one of the shards has no leader', async () => {
  const api_error = { code: 500, err_code: API.streamOffline, description: 'stream is offline' };
  const offline = Object.assign(new NatsError('stream is offline', '500'), { api_error });
  const streams = {
    names: () => ['SESSIONS_00', 'SESSIONS_01'],
    async info(name: string) {
      if (name === 'SESSIONS_01') throw offline;
      return { state: { last_seq: 0, subjects: {} } };
    },
  };
  const ports = { jsm: { streams } as unknown as JetStreamManager, timeoutMs: 1000 } as StorePorts;
  const log = new NatsSessionLog(ports, { layout: 'sharded', shards: 2 });
  await expect(log.activity()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('start the servers of the cluster that hold it'),
  });
});
