import { ErrorCode, type JetStreamManager, NatsError, StorageType, type StreamInfo } from 'nats';
import { expect, it } from 'vitest';
import { streamFaults, streamFindings } from '../../../src/nats/doctor/stream-findings.js';
import { rejected } from '../../support/builders.js';
import { bad, of } from '../../support/doctor.js';
import { newSession, startSystem } from '../../support/system.js';

it.each([['per-session'], ['sharded:1']])(
  'the doctor counts the streams of events in the layout %s, and compares their replicas',
  async (layout) => {
    await using system = await startSystem({ only: [], env: { THROUGHLINE_LAYOUT: layout } });
    const jsm = await system.ports.connection.jetstreamManager();
    await system.ports.log.append(newSession('demo'), rejected(1));
    const look = async (replicas: number) => of(await streamFindings(jsm, replicas), 'sessions');
    expect(await look(1)).toMatchObject([{ level: 'ok', message: '1 stream of events' }]);
    expect(bad(await streamFindings(jsm, 3)).map(({ message }) => message)).toContain(
      'has 1 replicas, THROUGHLINE_REPLICAS says 3',
    );
    expect(await look(3)).toEqual([]);
  },
);

it.each([
  ['in order', [{ current: true }, { current: true }], []],
  ['with a replica that is behind', [{ current: true }, { current: false }], ['warn']],
  ['with one that is offline', [{ current: true, offline: true }], ['warn']],
])('the doctor checks a stream of a cluster: %s', (_, replicas, levels) => {
  const config = { allow_direct: true, storage: StorageType.File, num_replicas: 3, max_bytes: -1 };
  const stream = {
    config: { ...config, subjects: ['dispatch.>'] },
    state: { bytes: 0 },
    cluster: { replicas },
  };
  const found = streamFaults(stream as unknown as StreamInfo, 'DISPATCH', 3);
  expect(found.map(({ level }) => level)).toEqual(levels);
});

it('the doctor names the streams that have no leader', async () => {
  const streams = {
    list: () => [],
    names: () => ['SESSIONS_01', 'SESSIONS_00', 'SESSION_demo', 'STRANGER', 'DISPATCH'],
    info: () => Promise.reject(NatsError.errorForCode(ErrorCode.Timeout)),
  };
  const jsm = { streams } as unknown as JetStreamManager;
  const found = await streamFindings(jsm, 1);
  expect(of(found, 'stream DISPATCH')).toMatchObject([
    { level: 'fail', message: 'has no leader in the cluster' },
  ]);
  expect(of(found, 'sessions')).toEqual([
    {
      check: 'sessions',
      level: 'fail',
      message:
        '3 streams have no leader in the cluster (SESSIONS_00, SESSIONS_01, SESSION_demo): events can be neither stored nor read',
      fix: 'start the servers of the cluster that hold them: nats server report jetstream',
    },
  ]);
});
