import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  type NatsConnection,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { NO_RULES } from '../../contracts/lifecycle-record.js';
import * as names from '../../contracts/names.js';
import { counted } from '../../shared/text.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { beginRestoring, isRestoring, LAYOUT_STREAM, recordRestored } from '../jetstream/layout-record.js';
import { RESTORING_SUBJECT, SHARDS, shardConfig, subjectsOf } from '../jetstream/topology.js';
import { KvBucket, LIFECYCLE_STREAM } from '../stores/kv-bucket.js';
import { retentionStore } from '../stores/kv-stores.js';
import { type BackupManifest, checkCopy, ownStreams, readCopy, readManifest } from './back-up.js';
import { type NamedConfig, restoreStream } from './stream-transfer.js';

interface RestoreOptions {
  readonly directory: string;
  /** Default: as in the backup. */
  readonly replicas?: number | undefined;
  readonly timeoutMs: number;
  readonly onProgress?: (streams: number, of: number) => void;
}

/**
 * Restores a backup onto a server without an installation.
 *
 * First the bucket of the layout is created, with a record by which services refuse to start. Once all else is there, it is
 * replaced by the layout, and `DISPATCH` gets its subjects: before, it accepts no result. What an interrupted restore has left is
 * deleted, and everything restored again.
 *
 * @throws ThroughlineError `not_found` without a backup, `config_invalid` for a damaged file or a server that has streams of
 * Throughline already, `unavailable` if the server is lost
 */
export async function restore(connection: NatsConnection, options: RestoreOptions): Promise<BackupManifest> {
  const { directory, timeoutMs, replicas = 1 } = options;
  const manifest = await readManifest(directory);
  const ports = { connection, timeoutMs };
  try {
    const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
    const there = await ownStreams(jsm);
    const others = there.filter((name) => name !== LAYOUT_STREAM);
    if (others.length > 0 && !(await isUnfinished(jsm, ports, there))) throw alreadyThere(there);
    for (const stored of manifest.streams) await checkCopy(directory, stored);
    // The bucket with the record goes last.
    for (const name of others) await jsm.streams.delete(name);
    if (there.includes(LAYOUT_STREAM)) await jsm.streams.delete(LAYOUT_STREAM);
    await beginRestoring(jsm, ports, replicas);
    await restoreAll(connection, jsm, manifest, options);
    // Rules would remove old data before anyone has looked at it.
    const rules = retentionStore(new KvBucket(connection, { replicas, timeoutMs }));
    await rules.changeRules(() => NO_RULES);
    // Services set the rest.
    await jsm.consumers.add(names.DISPATCH_STREAM, {
      durable_name: names.EXTRACTOR_CONSUMER,
      ack_policy: AckPolicy.Explicit,
      max_deliver: -1,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: manifest.start,
    });
    await recordRestored(jsm, ports, manifest.layout);
    await jsm.streams.update(names.DISPATCH_STREAM, { subjects: [names.DISPATCH_SUBJECTS] });
    return manifest;
  } catch (error) {
    throw toThroughlineError(error, 'restoring');
  }
}

async function isUnfinished(
  jsm: JetStreamManager,
  ports: Parameters<typeof isRestoring>[0],
  there: readonly string[],
): Promise<boolean> {
  const dispatches = await ifExists(jsm.streams.info(names.DISPATCH_STREAM));
  if (dispatches !== undefined) return dispatches.config.subjects.includes(RESTORING_SUBJECT);
  return there.includes(LAYOUT_STREAM) && isRestoring(ports);
}

function alreadyThere(there: readonly string[]): ThroughlineError {
  const shown = `${there.slice(0, 5).join(', ')}${there.length > 5 ? ' …' : ''}`;
  return new ThroughlineError(
    'config_invalid',
    `the server has ${counted(there.length, 'stream')} of Throughline (${shown}) already: restore into an empty server or account, or delete them first`,
    { details: { streams: there.length } },
  );
}

async function restoreAll(
  connection: NatsConnection,
  jsm: JetStreamManager,
  { streams }: BackupManifest,
  { directory, replicas, onProgress = () => {} }: RestoreOptions,
): Promise<void> {
  // Sequential: nats-server 2.15.0 crashes if one restore creates a stream while another counts them.
  for (const [done, stored] of streams.entries()) {
    const { name, state } = stored;
    const config = {
      ...ownConfig(name, stored.config),
      ...(replicas !== undefined && { num_replicas: replicas }),
      ...(name === names.DISPATCH_STREAM && { subjects: [RESTORING_SUBJECT] }),
    };
    onProgress(done, streams.length);
    const made = await restoreStream(connection, { config, state }, readCopy(directory, stored));
    if (made.last_seq < state.last_seq)
      throw new ThroughlineError(
        'internal',
        `stream ${name} was restored up to ${made.last_seq}, and its copy goes up to ${state.last_seq}: run it again`,
      );
    // A copy may contain consumers, which would deliver to anyone.
    if (made.consumer_count > 0)
      for await (const consumer of jsm.consumers.list(name)) await jsm.consumers.delete(name, consumer.name);
  }
}

const LIMITS = [
  ...['description', 'num_replicas', 'max_age', 'max_bytes', 'max_msgs', 'max_msgs_per_subject'],
  ...['max_msg_size', 'duplicate_window', 'discard', 'compression'],
] as const;

/**
 * Returns the configuration of one of our streams, with the limits of its copy. A backup may come from a stranger: it must not
 * restore a stream that copies messages to or from other subjects. So all but the limits follows from the name.
 */
function ownConfig(name: string, stored: Partial<StreamConfig>): NamedConfig {
  const shard = names.shardOfStream(name);
  const shards = stored.metadata?.[SHARDS] ?? '';
  return {
    discard: DiscardPolicy.Old,
    ...Object.fromEntries(Object.entries(stored).filter(([key]) => LIMITS.some((limit) => limit === key))),
    name,
    subjects: [subjectsOf(name) ?? ''],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    allow_direct: true,
    ...(name.startsWith('KV_') && { allow_rollup_hdrs: true, deny_delete: true }),
    ...(name === LIFECYCLE_STREAM && { allow_msg_ttl: true }),
    ...(shard !== undefined && shardConfig(shard, shards)),
  };
}
