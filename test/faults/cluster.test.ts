import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import {
  DISPATCH_STREAM,
  PER_SESSION,
  type SessionLayout,
  streamOf,
  token,
} from '../../src/contracts/names.js';
import { RESULT_PATHS, type SessionEvent } from '../../src/contracts/session-events.js';
import { ResultWriter } from '../../src/services/extractor/result-writer.js';
import { newSession, openPorts } from '../engine/ports/opened.js';
import { rejected } from '../support/builders.js';
import { freshReader } from '../support/faults/clean-run.js';
import { startCluster } from '../support/faults/cluster.js';
import { publishLarge } from '../support/faults/large-bodies.js';
import type { FaultyServer } from '../support/faults/server.js';
import { SETTINGS } from '../support/faults/settings.js';
import { type Load, underLoad } from '../support/faults/under-load.js';
import { layoutEnv } from '../support/layouts.js';
import { soon } from '../support/system.js';

const TIMEOUT_MS = 240_000;
/** Milliseconds: an election takes up to nine seconds, and a lost request its timeout; a busy machine needs longer for both. */
const LONGEST_SILENCE_MS = 30_000;
const SHARDED: SessionLayout = { layout: 'sharded', shards: 2 };
const env = { THROUGHLINE_REPLICAS: '3', THROUGHLINE_TUNING: 'requestTimeoutMs=3000' };

async function leaderOf({ ports }: Load, stream: string): Promise<string> {
  const jsm = await ports.connection.jetstreamManager({ checkAPI: false });
  const { cluster } = await jsm.streams.info(stream);
  return cluster?.leader ?? '';
}

/** Returns the leader of a stream as soon as there is one: a slow machine may need another election. */
const electedOf = (load: Load, stream: string = DISPATCH_STREAM) =>
  soon(async () => {
    const leader = await leaderOf(load, stream);
    expect(leader).not.toBe('');
    return leader;
  });

/** Kills the node that leads a stream, and restarts it once another node leads. */
async function killLeader(
  load: Load,
  node: (name: string) => FaultyServer,
  stream: string = DISPATCH_STREAM,
) {
  const leader = await electedOf(load, stream);
  await node(leader).kill();
  await soon(async () => expect(await leaderOf(load, stream)).not.toBe(leader));
  await node(leader).restart();
}

const NOTE_PAUSE_MS = 50;

/** Adds notes to a session until `end`, one by one; returns the acknowledged notes and the longest wait. */
function notesTo({ system }: Load, session: string) {
  const acknowledged: string[] = [];
  let [over, longestMs, since] = [false, 0, performance.now()];
  const adding = (async () => {
    for (let number = 0; !over; number += 1) {
      const content = `note ${number}`;
      const answer = await system.client.tools.noteAdd({ session, content }).catch((error: unknown) => {
        // It may be stored or not: the test does not count it.
        expect(error).toMatchObject({ code: 'unavailable' });
      });
      if (answer === undefined) continue;
      acknowledged.push(content);
      longestMs = Math.max(longestMs, performance.now() - since);
      since = performance.now();
      // A session accepts 1,000 notes, which must last until another node leads.
      await sleep(NOTE_PAUSE_MS);
    }
  })();
  return {
    acknowledged,
    async end() {
      over = true;
      await adding;
      return longestMs;
    },
  };
}

/** Runs the load on a cluster while `happens` disturbs its nodes; all services know all three. */
async function onCluster(
  happens: (load: Load, node: (name: string) => FaultyServer) => Promise<void>,
  layout: SessionLayout = PER_SESSION,
) {
  await using cluster = await startCluster();
  const { servers, url } = cluster;
  const node = (name: string) => {
    const server = servers.get(name);
    if (server === undefined) throw new Error(`no node has the name ${JSON.stringify(name)}`);
    return server;
  };
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
    { env: { ...env, ...layoutEnv(layout) }, url, sessions: 3 },
  );
}

it(
  'a cluster reads what is left where the newest event was deleted, or lies beyond what is asked for',
  async () => {
    await using cluster = await startCluster();
    const { url } = cluster;
    const nats = await soon(() => openPorts(url, { replicas: 3 }));
    const session = newSession();
    const stream = streamOf(nats.layout, session);
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
    await jsm.streams.deleteMessage(stream, sequences[1] ?? 0);
    await soon(async () => expect(await read(sequences[1])).toEqual([sequences[0]]));
    await jsm.streams.deleteMessage(stream, sequences[2] ?? 0);
    await soon(async () => expect(await read()).toEqual([sequences[0]]));
    await jsm.streams.purge(stream);
    await soon(async () => expect(await read()).toEqual([]));
    // It is known now, so it is not requested again.
    const asked = vi.spyOn(nats.connection, 'request');
    expect(await read()).toEqual([]);
    expect(asked.mock.calls.filter(([subject]) => subject.includes('.STREAM.MSG.GET.'))).toEqual([]);
    await nats.close();
  },
  TIMEOUT_MS,
);

it(
  'a cluster stores one of two appends in flight that expect the same; the other is a conflict, and each result is stored once',
  async () => {
    await using cluster = await startCluster();
    const open = () => soon(() => openPorts(cluster.url, { replicas: 3 }));
    const [one, other] = [await open(), await open()];
    const session = newSession();
    const command: SessionEvent = {
      v: 1,
      type: 'session.restarted',
      at: '2026-01-01T00:00:00.000Z',
      id: 'again',
      data: {},
    };
    // The stream is made first, so that each round is about the expectation alone.
    let expectedSequence = await soon(async () => {
      const first = await one.log.append(session, command);
      return first.outcome === 'appended' ? first.sequence : Promise.reject(new Error(first.outcome));
    });
    for (let round = 0; round < 50; round += 1) {
      const pair = await Promise.all(
        [one, other].map(({ log }) => log.append(session, command, { expectedSequence })),
      );
      expect(pair.map(({ outcome }) => outcome).sort()).toEqual(['appended', 'conflict']);
      for (const each of pair) if (each.outcome === 'appended') expectedSequence = each.sequence;
    }
    const writers = [one, other, one, other].map(
      ({ log }) => new ResultWriter({ log, reader: freshReader(log) }),
    );
    const dispatches = Array.from({ length: 300 }, (_, index) => index + 1);
    await Promise.all(
      writers.flatMap((writer) =>
        dispatches.map((dispatch) => writer.record(session, rejected(dispatch), () => rejected(dispatch))),
      ),
    );
    const { events } = await one.log.read(session, { after: 0, at: RESULT_PATHS });
    const stored = events.flatMap(({ event }) =>
      event.type === 'dispatch.rejected' ? event.data.dispatch.sequence : [],
    );
    expect(stored.sort((first, second) => first - second)).toEqual(dispatches);
    await Promise.all([one.close(), other.close()]);
  },
  TIMEOUT_MS,
);

it(
  'a cluster goes on when the node that leads the dispatch stream is killed, and when it comes back',
  () =>
    onCluster(async (load, node) => {
      await killLeader(load, node);
      // Replicas agree on each delivery before it is sent, so the end of a request arrives first.
      await publishLarge(load, 60);
    }),
  TIMEOUT_MS,
);

it(
  'a cluster with sessions in shards goes on when the node that leads a shard is killed: nothing acknowledged is lost, and it answers again',
  () =>
    onCluster(async (load, node) => {
      const session = token('noted', 'session');
      const notes = notesTo(load, session);
      await soon(() => expect(notes.acknowledged.length).toBeGreaterThan(20));
      await killLeader(load, node, streamOf(load.ports.layout, session));
      const before = notes.acknowledged.length;
      await soon(() => expect(notes.acknowledged.length).toBeGreaterThan(before + 20));
      const longestMs = await notes.end();
      const kept = await soon(() => load.system.client.tools.noteList({ session }));
      const contents = kept.notes.map(({ content }) => content);
      expect(contents).toEqual(expect.arrayContaining(notes.acknowledged));
      expect(new Set(contents).size).toBe(contents.length);
      expect(longestMs).toBeLessThan(LONGEST_SILENCE_MS);
    }, SHARDED),
  TIMEOUT_MS,
);

// Takes half a minute, mostly waiting: only in the long version.
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
