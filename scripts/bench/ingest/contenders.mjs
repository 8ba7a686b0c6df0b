// What does the work: each with a server and processes of its own, idle until it is its turn.

import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AckPolicy } from 'nats';
import { loadConfig } from '../../../dist/config/config.js';
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER } from '../../../dist/contracts/names.js';
import { Shutdown } from '../../../dist/engine/runtime/shutdown.js';
import { AckedPublisher } from '../../../dist/nats/jetstream/acked-publisher.js';
import { cpuMs, openPorts, startScript, startServer, startThroughline } from '../host.mjs';
import { startRedis } from './redis.mjs';

export const SESSIONS = 100;
/** A look costs the server some 0.1 ms: while much is left, it is not what is to be measured. */
const POLL_MS = { far: 25, near: 5 };
const NEAR = 1000;
const IN_FLIGHT = 512;

/**
 * A contender: `fill` puts results where its workers will find them, `work` starts its processes and stops them once
 * everything is acknowledged. Between `warm` acknowledged ones and the last it gives results per second, so that neither
 * the start of a process nor its first, uncompiled steps count, and the processor time of its workers and of its server
 * for each of them, in microseconds, where the machine tells. `stored` counts what came out at the end.
 */
export async function throughlineContender({ layout, workers = 1, on }, shutdown) {
  const { url, pids, replicas } = on ?? (await oneServer(shutdown));
  const env = { THROUGHLINE_LAYOUT: layout, THROUGHLINE_REPLICAS: String(replicas) };
  const nats = await openPorts(url, shutdown, loadConfig(env));
  const start = (own) => startThroughline(['admin', 'serve', '--only', 'extractor'], url, own, env);
  // A worker that finds nothing makes the consumer, and takes its open pull away with its connection.
  const first = new Shutdown();
  await start(first);
  await first.release(10_000);
  return natsContender({
    nats,
    pids,
    stream: DISPATCH_STREAM,
    consumer: EXTRACTOR_CONSUMER,
    subjectOf: (session) => `dispatch.${session}.implementer`,
    outputs: layout === 'sharded' ? 'sessions.>' : 'session.>',
    workers,
    start,
  });
}

async function oneServer(shutdown) {
  const { url, pid } = await startServer(shutdown);
  return { url, pids: [pid], replicas: 1 };
}

/**
 * @param bytes of each body that it publishes; left out: those that it was given
 * @param on the servers. Default: one of its own
 */
export async function relayContender(shutdown, bytes, on) {
  const { url, pids, replicas } = on ?? (await oneServer(shutdown));
  const nats = await openPorts(url, shutdown);
  const jsm = await nats.connection.jetstreamManager();
  await jsm.streams.add({ name: 'IN', subjects: ['in.>'], num_replicas: replicas });
  await jsm.consumers.add('IN', {
    durable_name: 'relay',
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 20_000,
  });
  for (let n = 0; n < SESSIONS; n += 1) {
    const subjects = [`out.session-${n}`];
    await jsm.streams.add({ name: `OUT_${n}`, subjects, allow_direct: true, num_replicas: replicas });
  }
  const script = fileURLToPath(new URL('relay.mjs', import.meta.url));
  const given = bytes === undefined ? {} : { RELAY_BYTES: String(bytes) };
  return natsContender({
    nats,
    pids,
    stream: 'IN',
    consumer: 'relay',
    subjectOf: (session) => `in.${session}.implementer`,
    outputs: 'out.>',
    workers: 1,
    start: (own) => startScript(script, ['IN', 'relay'], own, { NATS_URL: url, ...given }),
  });
}

async function natsContender({ nats, pids, stream, consumer, subjectOf, outputs, workers, start }) {
  const { connection } = nats;
  const jsm = await connection.jetstreamManager();
  const publisher = new AckedPublisher(connection, 10_000);
  return {
    async fill(results) {
      for (let from = 0; from < results.length; from += IN_FLIGHT) {
        const slice = results.slice(from, from + IN_FLIGHT);
        await Promise.all(slice.map(({ session, body }) => publisher.publish(subjectOf(session), body)));
      }
    },
    work: (warm) =>
      timed({
        start: (own) => Promise.all(Array.from({ length: workers }, () => start(own))),
        servers: pids,
        warm,
        left: async () => {
          const { num_pending, num_ack_pending } = await jsm.consumers.info(stream, consumer);
          return num_pending + num_ack_pending;
        },
      }),
    async stored() {
      let stored = 0;
      for await (const { state } of jsm.streams.list(outputs)) stored += state.messages;
      return stored;
    },
  };
}

async function timed({ start, servers, warm, left }) {
  const all = await left();
  const own = new Shutdown();
  let workers = [];
  const started = start(own).then((children) => {
    workers = children.map(({ pid }) => pid);
  });
  const cpu = () => ({ worker: cpuMs(workers), server: cpuMs(servers) });
  let began;
  try {
    for (;;) {
      const now = await left();
      if (began === undefined && all - now >= warm) began = { at: performance.now(), left: now, cpu: cpu() };
      if (now === 0) {
        const each = (ms) => (ms === undefined ? undefined : (ms * 1000) / began.left);
        const used = cpu();
        return {
          rate: (began.left / (performance.now() - began.at)) * 1000,
          worker: each(used.worker && used.worker - began.cpu.worker),
          server: each(used.server && used.server - began.cpu.server),
        };
      }
      await sleep(now > NEAR ? POLL_MS.far : POLL_MS.near);
    }
  } finally {
    await started;
    await own.release(10_000);
  }
}

/** BullMQ on Redis, or `undefined` where there is no redis-server, or its npm project is not installed. */
export async function bullmqContender(shutdown) {
  if (!existsSync(new URL('../bullmq/node_modules', import.meta.url))) return undefined;
  const redis = await startRedis(shutdown);
  if (redis === undefined) return undefined;
  const { port } = redis;
  const { openQueue } = await import('../bullmq/queue.mjs');
  const queue = await openQueue(port, 'dispatches');
  shutdown.add('the queue', () => queue.close());
  const script = fileURLToPath(new URL('../bullmq/worker.mjs', import.meta.url));
  return {
    fill: (results) =>
      queue.fill(results.map(({ session, body }) => ({ subject: `dispatch.${session}.implementer`, body }))),
    work: (warm) =>
      timed({
        start: async (own) => [await startScript(script, [port, 'dispatches'], own)],
        servers: [redis.pid],
        warm,
        left: () => queue.left(),
      }),
    stored: () => queue.stored(),
  };
}
