// Installations with many sessions: their streams, and events in bulk.
import { writeEvent } from '../../dist/contracts/event.js';
import { publishedOn, shardStream } from '../../dist/contracts/names.js';
import { SESSION_EVENTS } from '../../dist/contracts/session-events.js';
import { createLogStream } from '../../dist/nats/jetstream/topology.js';
import { factEvent } from './results.mjs';

export const EVENTS_EACH = 20;
const AT_ONCE = 64;
const IN_FLIGHT = 4000;

/** Makes all streams: with a stream each by the first event of each session, as a service does. */
export async function makeStreams({ connection, layout, log }, { count, session, say }) {
  if (layout.layout === 'sharded') {
    const jsm = await connection.jetstreamManager();
    for (let shard = 0; shard < layout.shards; shard += 1)
      await createLogStream(jsm, layout, shardStream(shard), 0, { replicas: 1 });
    return;
  }
  let made = 0;
  const ticking = setInterval(() => say(`${made} streams`), 5000);
  try {
    await inTurn(count, async (index) => {
      await log.append(session(index), factEvent(1));
      made += 1;
    });
  } finally {
    clearInterval(ticking);
  }
}

/** Which session each event belongs to, and which of its events it is: round after round, as agents of many do. */
function* written(count, quiet) {
  for (const [from, to] of [
    [0, quiet],
    [quiet, count],
  ]) {
    for (let round = 0; round < EVENTS_EACH; round += 1) {
      for (let index = from; index < to; index += 1) yield { index, round };
    }
  }
}

/** Publishes with one inbox for all PubAcks: to wait for each by itself would take ten times as long. */
export async function publishAll({ connection, layout }, { count, quiet, session, say }) {
  const made = Array.from({ length: EVENTS_EACH }, (_, round) => factEvent(round + 1));
  const inbox = `_INBOX.bench.${process.pid}.${performance.now()}`;
  let [sent, stored, last] = [0, 0, performance.now()];
  let fault;
  const acks = connection.subscribe(inbox, {
    callback(_, message) {
      stored += 1;
      if (message.string().includes('"error"')) fault ??= new Error(message.string());
    },
  });
  const below = async (most) => {
    while (sent - stored > most) {
      if (fault !== undefined) throw fault;
      if (performance.now() - last > 60_000) throw new Error(`${sent - stored} publishes without an answer`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  for (const { index, round } of written(count, quiet)) {
    const of = session(index);
    const event = made[round];
    connection.publish(publishedOn(layout, of, event.type), writeEvent(SESSION_EVENTS, of, event), {
      reply: inbox,
    });
    sent += 1;
    if (sent % 500 === 0) await below(IN_FLIGHT);
    if (performance.now() - last < 5000) continue;
    say(`${stored} events`);
    last = performance.now();
  }
  await below(0);
  acks.unsubscribe();
}

/** Runs `work` for 0 to `count` - 1, some at a time. */
async function inTurn(count, work) {
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
