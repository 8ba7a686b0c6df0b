import { ErrorCode, type JetStreamManager, NatsError } from 'nats';
import { expect, it } from 'vitest';
import { manySessions, shardFindings } from '../../../src/nats/doctor/session-findings.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { rejected } from '../../support/builders.js';
import { bad, of } from '../../support/doctor.js';
import { newSession, startSystem } from '../../support/system.js';

const env = { THROUGHLINE_LAYOUT: 'sharded:1' };

it('the doctor counts the shards that were made, names sessions that are behind their snapshot, and finds shards of another installation', async () => {
  await using system = await startSystem({ only: [], env });
  const { log, snapshots, connection } = system.ports;
  const jsm = await connection.jetstreamManager();
  const look = (shards: number) => shardFindings({ jsm, snapshots, shards, replicas: 1 });
  expect(of(await look(1), 'layout')).toMatchObject([
    { level: 'ok', message: expect.stringMatching(/^0 of 1 /) },
  ]);

  const [behind, fresh] = [newSession('behind'), newSession('fresh')];
  for (const [at, session] of [behind, fresh].entries()) await log.append(session, rejected(at + 1));
  await snapshots.save(behind, { sequence: 700, text: '{"after_sequence":700,"state":{}}' });
  expect(bad(await look(1))).toEqual([
    {
      check: `session ${behind}`,
      level: 'fail',
      message: expect.stringMatching(/^its stream is at 2 and its snapshot at 700/),
      fix: expect.stringContaining('restore all streams of one backup'),
    },
  ]);

  const others = bad(await look(8));
  expect(of(others, 'stream SESSIONS_00')).toMatchObject([
    { level: 'fail', message: 'is one of 1 shards, but the installation has 8 shards' },
  ]);
});

it('the doctor names the shards that have no leader, and counts them among those that were made', async () => {
  const streams = {
    list: () => [],
    names: () => ['SESSIONS_01', 'SESSIONS_00', 'STRANGER'],
    info: () => Promise.reject(NatsError.errorForCode(ErrorCode.Timeout)),
  };
  const jsm = { streams } as unknown as JetStreamManager;
  const snapshots = new MemorySnapshotStore();
  const found = await shardFindings({ jsm, snapshots, shards: 2, replicas: 1 });
  expect(of(found, 'layout')).toMatchObject([{ level: 'ok', message: '2 of 2 shards made' }]);
  expect(bad(found)).toEqual([
    {
      check: 'shards',
      level: 'fail',
      message: expect.stringMatching(/^2 shards have no leader in the cluster \(SESSIONS_00, SESSIONS_01\)/),
      fix: 'start the servers of the cluster that hold them: nats server report jetstream',
    },
  ]);
});

it('the doctor suggests shards only where thousands of sessions have a stream each', () => {
  expect(manySessions(2000)).toEqual([]);
  expect(manySessions(2001)).toMatchObject([
    {
      check: 'layout',
      level: 'warn',
      fix: expect.stringContaining('throughline session export --all'),
    },
  ]);
});
