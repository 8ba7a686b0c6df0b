import { type JetStreamManager, NatsError, type StreamInfo } from 'nats';
import { expect, it } from 'vitest';
import { API } from '../../../src/nats/connection/nats-errors.js';
import { listStreams } from '../../../src/nats/jetstream/list-streams.js';

const api_error = { code: 404, err_code: API.streamNotFound, description: 'stream not found' };
const NOT_FOUND = Object.assign(new NatsError('stream not found', '404'), { api_error });

/** A server that names all streams, lists some of them, some twice, and is asked for the others. */
function serverWith({ names, listed }: { names: readonly string[]; listed: readonly string[] }) {
  const infoOf = (name: string) => ({ config: { name } }) as StreamInfo;
  const streams = {
    names: () => names,
    list: () => listed.map(infoOf),
    async info(name: string) {
      if (name === 'REMOVED') throw NOT_FOUND;
      if (name === 'SILENT') throw new Error('TIMEOUT');
      return infoOf(name);
    },
  };
  return { streams } as unknown as JetStreamManager;
}

it('a list of streams holds each once, also what the server left out because nobody led it', async () => {
  const jsm = serverWith({ names: ['A', 'B', 'C', 'REMOVED'], listed: ['A', 'C', 'C'] });
  const found = await listStreams(jsm, 'session.>');
  expect(found.map(({ config }) => config.name).sort()).toEqual(['A', 'B', 'C']);
});

it('a list of streams is not shorter because one of them gives no answer', async () => {
  await expect(
    listStreams(serverWith({ names: ['A', 'SILENT'], listed: ['A'] }), 'session.>'),
  ).rejects.toThrow('TIMEOUT');
});
