import { expect, it } from 'vitest';
import { ALL_SESSIONS, sessionStream, token } from '../../src/contracts/names.js';
import type { SessionEvent } from '../../src/contracts/session-events.js';
import { listedStreams } from '../../src/nats/jetstream/list-streams.js';
import { openPorts } from '../engine/ports/opened.js';
import { doctor, of } from '../support/doctor.js';
import { startCluster } from '../support/faults/cluster.js';
import type { FaultyServer } from '../support/faults/server.js';
import { soon, startSystem } from '../support/system.js';

const TIMEOUT_MS = 240_000;
/** The server takes four seconds to list streams if some do not respond. */
const env = { THROUGHLINE_REPLICAS: '3', THROUGHLINE_TUNING: 'requestTimeoutMs=6000' };

function opened(goal: string): SessionEvent {
  return { v: 1, type: 'session.opened', at: '2026-01-01T00:00:00.000Z', data: { goal } };
}

it(
  'a session whose only copy is on a server that is down is still there: in lists and to the doctor',
  async () => {
    await using cluster = await startCluster();
    const { servers, url } = cluster;
    const [first] = servers.values();
    const on = { nats: { ...(first as FaultyServer), url }, env };
    const [left, kept, behind] = [
      token('left', 'session'),
      token('kept', 'session'),
      token('behind', 'session'),
    ];
    await using system = await soon(() => startSystem({ ...on, fixed: { quietMs: 50, busyMs: 200 } }));
    const { ports } = system;
    const alone = await openPorts(url, { replicas: 1 });
    await alone.log.append(left, opened('parse'));
    for (const session of [kept, behind]) await ports.log.append(session, opened('parse'));
    await soon(async () => {
      const entries: string[] = [];
      for await (const part of ports.index.read(0))
        entries.push(...part.entries.map(({ figures }) => figures.session));
      expect(entries.sort()).toEqual([behind, kept, left]);
    });
    const jsm = await alone.connection.jetstreamManager({ checkAPI: false });
    const stream = sessionStream(left);
    const listed = await listedStreams(jsm, ALL_SESSIONS);
    expect([listed.found.length, listed.leaderless]).toEqual([3, []]);
    const node = servers.get((await jsm.streams.info(stream)).cluster?.leader ?? '') as FaultyServer;
    const activity = async () =>
      new Map((await ports.log.activity()).map(({ session, sequence }) => [session, sequence]));
    const isLeaderless = new Map([
      [left, undefined],
      [kept, 1],
      [behind, 1],
    ]);
    // The other nodes then consider it slow and omit it.
    await node.kill();
    await soon(async () => expect(await activity()).toEqual(isLeaderless));
    await node.restart();
    await soon(async () => expect(await activity()).toEqual(new Map(isLeaderless).set(left, 1)));
    // The other nodes then know that it is down, and list its streams as empty.
    node.signal('SIGTERM');
    await node.ended();
    await soon(async () => {
      expect((await jsm.streams.list(ALL_SESSIONS).next()).map(({ state }) => state.last_seq)).toContain(0);
      expect(await activity()).toEqual(isLeaderless);
    });

    const { code, found } = await doctor(url, env);
    expect(of(found, 'sessions')).toEqual([
      {
        ...{
          check: 'sessions',
          level: 'fail',
          message: expect.stringMatching(
            new RegExp(`^1 stream has no leader in the cluster \\(${stream}\\)`),
          ),
        },
        fix: expect.stringMatching(/^start the servers of the cluster that hold them: /),
      },
    ]);
    expect(code).toBe(1);

    await system.stop();
    // A process that knows sessions only from the index and the logs.
    await using fresh = await soon(() => startSystem({ ...on, only: ['tools'] }));
    await soon(async () => {
      const { sessions } = await fresh.client.tools.sessionList({});
      expect(sessions.find(({ session }) => session === left)).toMatchObject({ goal: 'parse', sequence: 1 });
      expect(sessions.map(({ session }) => session).sort()).toEqual([behind, kept, left]);
    });

    await alone.close();
  },
  TIMEOUT_MS,
);
