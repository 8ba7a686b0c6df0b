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
import {
  beginRestoring,
  endRestoring,
  LAYOUT_STREAM,
  RESTORING_MARK,
  recordRestored,
} from '../jetstream/layout-record.js';
import { SHARDS } from '../jetstream/topology.js';
import { KvBucket } from '../stores/kv-bucket.js';
import { NatsRetentionStore } from '../stores/kv-stores.js';
import { type BackupManifest, checkCopy, ownStreams, readCopy, readManifest } from './backup-files.js';
import { type NamedConfig, restoreStream } from './stream-transfer.js';

interface RestoreOptions {
  readonly directory: string;
  /** Default: as in the backup. */
  readonly replicas?: number | undefined;
  readonly timeoutMs: number;
  readonly onProgress?: (streams: number, of: number) => void;
}

/** Until `DISPATCH` is complete it has this subject, so that no result is accepted into a stream that may be deleted. */
const UNUSED_SUBJECT = 'throughline.restoring';

/**
 * Restores a backup onto a server without an installation.
 *
 * First the bucket of the layout is created, with a mark and the time of the backup: services read it first, and refuse to start.
 * `DISPATCH` accepts results once all else is there. Then its consumer is made, and the mark is removed. What an interrupted
 * restore has left is deleted, and everything restored again; only if `DISPATCH` accepts results already, the rest is done.
 *
 * @throws ThroughlineError `not_found` without a backup, `config_invalid` for a damaged file or a server that has streams of
 * Throughline already, `unavailable` if the server is lost
 */
export async function restore(connection: NatsConnection, options: RestoreOptions): Promise<BackupManifest> {
  const { directory, timeoutMs, replicas = 1 } = options;
  const manifest = await readManifest(directory);
  try {
    const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
    const there = await ownStreams(jsm);
    const marked = (await configOf(jsm, LAYOUT_STREAM))?.metadata?.[RESTORING_MARK];
    const isOpen = (await configOf(jsm, names.DISPATCH_STREAM))?.subjects.includes(UNUSED_SUBJECT) === false;
    if (there.length > 0 && (marked === undefined || (isOpen && marked !== manifest.at)))
      throw alreadyThere(there);
    if (!isOpen) {
      for (const stored of manifest.streams) await checkCopy(directory, stored);
      // The bucket with the mark goes last.
      for (const name of there) if (name !== LAYOUT_STREAM) await jsm.streams.delete(name);
      if (marked !== undefined) await jsm.streams.delete(LAYOUT_STREAM);
      await beginRestoring(connection, jsm, manifest.at, replicas);
      await restoreAll(connection, jsm, manifest, options);
      // Rules would remove old data before anyone has looked at it.
      await new NatsRetentionStore(new KvBucket(connection, { replicas, timeoutMs })).changeRules(
        () => NO_RULES,
      );
      await recordRestored(connection, jsm, manifest.layout);
      await jsm.streams.update(names.DISPATCH_STREAM, { subjects: [names.DISPATCH_SUBJECTS] });
    }
    // Services set the rest.
    await jsm.consumers.add(names.DISPATCH_STREAM, {
      durable_name: names.EXTRACTOR_CONSUMER,
      ack_policy: AckPolicy.Explicit,
      max_deliver: -1,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: manifest.start,
    });
    await endRestoring(jsm);
    return manifest;
  } catch (error) {
    throw toThroughlineError(error, 'restoring');
  }
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
    const { name, firstSequence, lastSequence, messages } = stored;
    const config = {
      ...ownConfig(name, stored.config),
      ...(replicas !== undefined && { num_replicas: replicas }),
      ...(name === names.DISPATCH_STREAM && { subjects: [UNUSED_SUBJECT] }),
    };
    onProgress(done, streams.length);
    const state = { first_seq: firstSequence, last_seq: lastSequence, messages };
    const made = await restoreStream(connection, { config, state }, readCopy(directory, stored));
    if (made.last_seq < lastSequence)
      throw new ThroughlineError(
        'internal',
        `stream ${name} was restored up to ${made.last_seq}, and its copy goes up to ${lastSequence}: run it again`,
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
  const shards = stored.metadata?.[SHARDS];
  return {
    discard: DiscardPolicy.Old,
    ...Object.fromEntries(Object.entries(stored).filter(([key]) => LIMITS.some((limit) => limit === key))),
    name,
    subjects: [subjectsOf(name)],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    allow_direct: true,
    ...(name.startsWith('KV_') && { allow_rollup_hdrs: true, deny_delete: true }),
    ...(shard !== undefined && {
      subject_transform: { src: names.shardSubjects(shard), dest: 'session.{{wildcard(1)}}.>' },
      ...(shards !== undefined && { metadata: { [SHARDS]: shards } }),
    }),
  };
}

const SUBJECTS: Readonly<Record<string, string>> = {
  [names.DISPATCH_STREAM]: names.DISPATCH_SUBJECTS,
  [names.REJECTED_STREAM]: names.REJECTED_SUBJECTS,
  [names.PROMPTS_STREAM]: names.PROMPTS_SUBJECTS,
  [names.LEARNINGS_STREAM]: names.LEARNINGS_SUBJECTS,
};

function subjectsOf(name: string): string {
  const session = names.sessionOfStream(name);
  if (session !== undefined) return names.sessionSubjects(session);
  const shard = names.shardOfStream(name);
  if (shard !== undefined) return names.shardSubjects(shard);
  return SUBJECTS[name] ?? `$KV.${name.slice('KV_'.length)}.>`;
}

async function configOf(jsm: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  return (await ifExists(jsm.streams.info(name)))?.config;
}
