// What does the work: each with a server and processes of its own, idle until it is its turn.

import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AckPolicy } from 'nats';
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER } from '../../../dist/contracts/names.js';
import { AckedPublisher } from '../../../dist/nats/jetstream/acked-publisher.js';
import { Shutdown } from '../../../dist/runtime/shutdown.js';
import { openPorts, startScript, startServer, startThroughline } from '../host.mjs';
import { startRedis } from './redis.mjs';

export const SESSIONS = 100;
const POLL_MS = 2;
const IN_FLIGHT = 512;

/**
 * A contender: `fill` puts results where its workers will find them, `work` starts its processes and stops them once
 * everything is acknowledged. It gives results per second between `warm` acknowledged ones and the last, so that
 * neither the start of a process nor its first, uncompiled steps count. `stored` counts what came out at the end.
 */
export async function throughlineContender(workers, shutdown) {
  const server = await startServer(shutdown);
  const nats = await openPorts(server.url, shutdown);
  // A worker that finds nothing makes the consumer, and takes its open pull away with its connection.
  const first = new Shutdown();
  await startThroughline(['serve', '--only', 'extractor'], server.url, first);
  await first.release(10_000);
  return natsContender({
    nats,
    stream: DISPATCH_STREAM,
    consumer: EXTRACTOR_CONSUMER,
    subjectOf: (session) => `dispatch.${session}.implementer`,
    outputs: 'session.>',
    workers,
    start: (own) => startThroughline(['serve', '--only', 'extractor'], server.url, own),
  });
}

export async function relayContender(shutdown) {
  const server = await startServer(shutdown);
  const nats = await openPorts(server.url, shutdown);
  const jsm = await nats.connection.jetstreamManager();
  await jsm.streams.add({ name: 'IN', subjects: ['in.>'] });
  await jsm.consumers.add('IN', {
    durable_name: 'relay',
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 20_000,
  });
  for (let n = 0; n < SESSIONS; n += 1) {
    await jsm.streams.add({ name: `OUT_${n}`, subjects: [`out.session-${n}`], allow_direct: true });
  }
  const script = fileURLToPath(new URL('relay.mjs', import.meta.url));
  return natsContender({
    nats,
    stream: 'IN',
    consumer: 'relay',
    subjectOf: (session) => `in.${session}.implementer`,
    outputs: 'out.>',
    workers: 1,
    start: (own) => startScript(script, ['IN', 'relay'], own, { NATS_URL: server.url }),
  });
}

async function natsContender({ nats, stream, consumer, subjectOf, outputs, workers, start }) {
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

async function timed({ start, warm, left }) {
  const all = await left();
  const own = new Shutdown();
  const started = start(own);
  let began;
  let first = 0;
  try {
    for (;;) {
      const now = await left();
      if (began === undefined && all - now >= warm) {
        began = performance.now();
        first = now;
      }
      if (now === 0) return (first / (performance.now() - began)) * 1000;
      await sleep(POLL_MS);
    }
  } finally {
    await started;
    await own.release(10_000);
  }
}

/** BullMQ on Redis, or `undefined` where there is no redis-server, or its npm project is not installed. */
export async function bullmqContender(shutdown) {
  if (!existsSync(new URL('../bullmq/node_modules', import.meta.url))) return undefined;
  const port = await startRedis(shutdown);
  if (port === undefined) return undefined;
  const { openQueue } = await import('../bullmq/queue.mjs');
  const queue = await openQueue(port, 'dispatches');
  shutdown.add('the queue', () => queue.close());
  const script = fileURLToPath(new URL('../bullmq/worker.mjs', import.meta.url));
  return {
    fill: (results) =>
      queue.fill(results.map(({ session, body }) => ({ subject: `dispatch.${session}.implementer`, body }))),
    work: (warm) =>
      timed({
        start: (own) => startScript(script, [port, 'dispatches'], own),
        warm,
        left: () => queue.left(),
      }),
    stored: () => queue.stored(),
  };
}
