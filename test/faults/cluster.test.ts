import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { DISPATCH_STREAM, sessionStream } from '../../src/contracts/names.js';
import { portProblem } from '../../src/nats-server/free-port.js';
import { newSession, openPorts } from '../ports/opened.js';
import { rejected } from '../support/builders.js';
import { publishLarge } from '../support/faults/large-bodies.js';
import { type FaultyServer, startFaultyServer } from '../support/faults/server.js';
import { SETTINGS } from '../support/faults/settings.js';
import { type Load, underLoad } from '../support/faults/under-load.js';
import { soon } from '../support/system.js';

const TIMEOUT_MS = 240_000;
const env = { THROUGHLINE_REPLICAS: '3', THROUGHLINE_REQUEST_TIMEOUT_MS: '3000' };

/** Below the ports that the system hands out: it is taken only when its server has looked for others there. */
async function portOfRoutes(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if ((await portProblem('127.0.0.1', port)) === undefined) return port;
  }
}

/** Three servers that know each other, each by a name. */
async function startCluster(): Promise<{ servers: Map<string, FaultyServer> } & AsyncDisposable> {
  const ports = await Promise.all([1, 2, 3].map(portOfRoutes));
  const routes = ports.map((port) => `"nats-route://127.0.0.1:${port}"`).join(', ');
  const started = await Promise.all(
    ports.map(async (port, index) => {
      const serverName = `node-${index + 1}`;
      const extraConfig = `cluster { name: faults, host: 127.0.0.1, port: ${port}, routes: [${routes}] }`;
      return [serverName, await startFaultyServer({ serverName, extraConfig })] as const;
    }),
  );
  const servers = new Map(started);
  return {
    servers,
    async [Symbol.asyncDispose]() {
      await Promise.all([...servers.values()].map((server) => server.stop()));
    },
  };
}

async function leaderOf({ ports }: Load): Promise<string> {
  const jsm = await ports.connection.jetstreamManager({ checkAPI: false });
  const { cluster } = await jsm.streams.info(DISPATCH_STREAM);
  return cluster?.leader ?? '';
}

/** The leader, as soon as there is one: a busy machine may be slow enough for another election. */
const electedOf = (load: Load) =>
  soon(async () => {
    const leader = await leaderOf(load);
    expect(leader).not.toBe('');
    return leader;
  });

/** Runs the load on a cluster while `happens` to its nodes; all services know all three. */
async function onCluster(happens: (load: Load, node: (name: string) => FaultyServer) => Promise<void>) {
  await using cluster = await startCluster();
  const { servers } = cluster;
  const node = (name: string) => {
    const server = servers.get(name);
    if (server === undefined) throw new Error(`no node has the name ${JSON.stringify(name)}`);
    return server;
  };
  const url = [...servers.values()].map((server) => server.url).join(',');
  await soon(async () => {
    const answer = await fetch(`${node('node-1').monitorUrl}/healthz`);
    expect(answer.status).toBe(200);
  });
  await underLoad(
    node('node-1'),
    async (load) => {
      await happens(load, node);
      return {};
    },
    { env, url, sessions: 3 },
  );
}

it(
  'a cluster reads what is left where the newest event was deleted, or lies beyond what is asked for',
  async () => {
    await using cluster = await startCluster();
    const url = [...cluster.servers.values()].map((server) => server.url).join(',');
    const nats = await soon(() => openPorts(url, { replicas: 3 }));
    const session = newSession();
    const sequences: number[] = [];
    for (const dispatch of [1, 2, 3]) {
      const appended = await nats.log.append(session, rejected(dispatch));
      sequences.push(appended.outcome === 'appended' ? appended.sequence : 0);
    }
    const jsm = await nats.connection.jetstreamManager({ checkAPI: false });
    const read = async (through?: number) => {
      const { events } = await nats.log.read(session, { after: 0, ...(through && { through }) });
      return events.map(({ sequence }) => sequence);
    };
    expect(await read()).toEqual(sequences);
    await jsm.streams.deleteMessage(sessionStream(session), sequences[1] ?? 0);
    await soon(async () => expect(await read(2)).toEqual([sequences[0]]));
    await jsm.streams.deleteMessage(sessionStream(session), sequences[2] ?? 0);
    await soon(async () => expect(await read()).toEqual([sequences[0]]));
    await jsm.streams.purge(sessionStream(session));
    await soon(async () => expect(await read()).toEqual([]));
    // Known by now, so it is asked for no more.
    const asked = vi.spyOn(nats.connection, 'request');
    expect(await read()).toEqual([]);
    expect(asked.mock.calls.filter(([subject]) => subject.includes('.STREAM.MSG.GET.'))).toEqual([]);
    await nats.close();
  },
  TIMEOUT_MS,
);

it(
  'a cluster goes on when the node that leads the dispatch stream is killed, and when it comes back',
  () =>
    onCluster(async (load, node) => {
      const leader = await electedOf(load);
      await node(leader).kill();
      await soon(async () => expect(await leaderOf(load)).not.toBe(leader));
      await node(leader).restart();
      // Replicas agree on each delivery before it is sent, and the end of a request overtakes it.
      await publishLarge(load, 60);
    }),
  TIMEOUT_MS,
);

// Half a minute, most of it spent waiting: in the long version only.
it.runIf(SETTINGS.long)(
  'a cluster goes on when the node that leads the dispatch stream is frozen, and when it wakes up',
  () =>
    onCluster(async (load, node) => {
      const leader = await electedOf(load);
      await node(leader).freeze();
      await sleep(8000);
      node(leader).thaw();
    }),
  TIMEOUT_MS,
);
