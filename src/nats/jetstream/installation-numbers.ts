import type { JetStreamManager, JetStreamUsageAccountLimits, NatsConnection } from 'nats';
import { z } from 'zod';
import {
  ALL_SESSIONS,
  DISPATCH_STREAM,
  EXTRACTOR_CONSUMER,
  PER_SESSION,
  REJECTED_STREAM,
  type SessionLayout,
  SNAPSHOT_BUCKET,
} from '../../contracts/names.js';
import type { DispatchLag, HealthShown, ServerFacts } from '../../contracts/replies/health-reply.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { sessionsInShards } from './shard-sessions.js';

/** Returns the figures of `health-show` as lazy requests. They come from the server's own counters. */
export async function installationNumbers(
  connection: NatsConnection,
  timeoutMs: number,
  layout: SessionLayout = PER_SESSION,
) {
  const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
  return {
    dispatches: () => dispatchNumbers(jsm),
    rejected: () => rejectedMessages(jsm),
    snapshots: () => snapshotNumbers(jsm),
    sessions: async () =>
      layout.layout === 'sharded'
        ? (await sessionsInShards(jsm, layout.shards)).length
        : sessionCount(connection, timeoutMs),
    server: () => serverFacts(connection, jsm),
  };
}

/** Returns the backlog of dispatches; nothing without the stream. */
async function dispatchNumbers(
  jsm: JetStreamManager,
): Promise<NonNullable<HealthShown['dispatches']> | undefined> {
  const info = await ifExists(jsm.streams.info(DISPATCH_STREAM), 'asking for the stream of dispatches');
  if (info === undefined) return undefined;
  const consumers = await lagOf(jsm, EXTRACTOR_CONSUMER);
  const { last_seq: newest, last_ts: newestAt, messages: stored } = info.state;
  return {
    newest: stored === 0 ? 0 : newest,
    ...(stored > 0 && { newestAt }),
    stored,
    consumers,
  };
}

async function lagOf(jsm: JetStreamManager, consumer: string): Promise<DispatchLag[]> {
  const asked = jsm.consumers.info(DISPATCH_STREAM, consumer);
  const info = await ifExists(asked, `asking for the consumer ${consumer}`);
  if (info === undefined) return [];
  const { num_pending: pending, num_ack_pending: unacked, num_redelivered: redelivered, ack_floor } = info;
  return [{ consumer, pending, unacked, redelivered, handled: ack_floor.stream_seq }];
}

async function rejectedMessages(jsm: JetStreamManager): Promise<number> {
  const info = await ifExists(jsm.streams.info(REJECTED_STREAM), 'counting rejected results');
  return info?.state.messages ?? 0;
}

async function snapshotNumbers(jsm: JetStreamManager): Promise<HealthShown['snapshots']> {
  const info = await ifExists(jsm.streams.info(`KV_${SNAPSHOT_BUCKET}`), 'asking for the snapshots');
  if (info === undefined) return undefined;
  const { messages: kept, last_ts: newestAt } = info.state;
  return { kept, ...(kept > 0 && { newestAt }) };
}

const named = z.object({ total: z.number() });

async function sessionCount(connection: NatsConnection, timeoutMs: number): Promise<number> {
  try {
    const asked = JSON.stringify({ subject: ALL_SESSIONS });
    const reply = await connection.request('$JS.API.STREAM.NAMES', asked, { timeout: timeoutMs });
    return named.parse(reply.json()).total;
  } catch (error) {
    throw toThroughlineError(error, 'counting sessions');
  }
}

/** Returns facts about the connected server and the account's usage. */
async function serverFacts(connection: NatsConnection, jsm: JetStreamManager): Promise<ServerFacts> {
  const { version = 'unknown', server_name: name = '', cluster, max_payload = 0 } = connection.info ?? {};
  const stats = await jsm.getAccountInfo().catch((error: unknown) => {
    throw toThroughlineError(error, 'asking for the limits of JetStream');
  });
  return {
    ...{ version, name },
    ...(cluster !== undefined && { cluster }),
    maxPayload: max_payload,
    // An account with tiers has limits per number of replicas: only the usage is reported.
    ...usedOf(stats, Object.keys(stats.tiers ?? {}).length === 0),
  };
}

function usedOf(
  { limits, storage, memory, streams, consumers }: JetStreamUsageAccountLimits,
  areLimits: boolean,
) {
  const used = (count: number, limit: number) => ({
    used: count,
    ...(areLimits && limit > 0 && { limit }),
  });
  return {
    storage: used(storage, limits.max_storage),
    memory: used(memory, limits.max_memory),
    streams: used(streams, limits.max_streams),
    consumers: used(consumers, limits.max_consumers),
  };
}
