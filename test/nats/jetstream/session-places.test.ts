import type { JetStreamManager, StreamConfig, StreamInfo } from 'nats';
import { expect, it } from 'vitest';
import { sessionStream, type Token } from '../../../src/contracts/names.js';
import {
  asBefore,
  type OwnStream,
  OwnStreams,
  type StreamChange,
} from '../../../src/nats/jetstream/session-places.js';

const SESSION = 'demo' as Token;

/** A stream with events on their way: replicas agree on them after a fence is answered, and before a purge is. */
function busyStream(replicas: number) {
  let config = { name: sessionStream(SESSION), num_replicas: replicas } as StreamConfig;
  let [last, onTheirWay] = [10, replicas > 1 ? 5 : 0];
  const purges: unknown[] = [];
  const state = () => ({ messages: last, last_seq: last });
  const info = async () => ({ config, state: state() }) as StreamInfo;
  const purge = async (_: string, what: unknown) => {
    purges.push(what);
    last += onTheirWay;
    onTheirWay = 0;
    return { purged: 0 };
  };
  const update = async (_: string, change: StreamChange) => {
    config = { ...config, ...change };
    return info();
  };
  const jsm = { streams: { info, purge } } as unknown as JetStreamManager;
  const streams = new OwnStreams(jsm, { claimed: () => undefined, update });
  return { streams, purges, find: async () => (await streams.find(SESSION)) as OwnStream };
}

it('a fenced stream of three replicas holds what was on its way, also where it was fenced by a move that was cut short', async () => {
  const { streams, purges, find } = busyStream(3);
  const stream = await find();
  expect(await streams.fence(stream)).toMatchObject({ place: 'fenced', last: 15, messages: 15 });
  expect(await streams.fence(await find())).toMatchObject({ last: 15 });
  // Nothing of the session is removed by it.
  expect(purges).toEqual([{ filter: 'session.none' }, { filter: 'session.none' }]);

  const cutShort = busyStream(3);
  expect(await cutShort.streams.fence({ ...(await cutShort.find()), place: 'fenced' })).toMatchObject({
    last: 15,
  });
});

it('a stream with one replica is fenced by the answer alone', async () => {
  const { streams, purges, find } = busyStream(1);
  expect(await streams.fence(await find())).toMatchObject({ place: 'fenced', last: 10 });
  expect(purges).toEqual([]);
});

it('a stream that was marked as moved after its session was back in it says again which sequences are not of it', () => {
  const stream = {
    session: SESSION,
    messages: 5,
    first: 101,
    last: 105,
    config: { metadata: {} } as StreamConfig,
  };
  const metadata = { 'throughline.place': 'own', 'throughline.limits': '' };
  expect(asBefore({ ...stream, place: 'moved' }).metadata).toEqual({
    ...metadata,
    'throughline.above': '100',
  });
  // Its session has never left it: older events were removed.
  expect(asBefore({ ...stream, place: 'fenced' }).metadata).toEqual(metadata);
  const config = { metadata: { 'throughline.above': '50' } } as unknown as StreamConfig;
  expect(asBefore({ ...stream, config, place: 'moved' }).metadata).toEqual({
    ...metadata,
    'throughline.above': '50',
  });
});
