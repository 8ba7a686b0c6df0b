import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AckPolicy,
  type ConsumerConfig,
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from 'nats';
import { z } from 'zod';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import {
  DISPATCH_REVIEWS,
  DISPATCH_STREAM,
  DISPATCH_SUBJECTS,
  EXTRACTOR_CONSUMER,
  INDEX_BUCKET,
  INSTALLATION_BUCKET,
  LEARNER_CONSUMER,
  LEARNING_SNAPSHOT_BUCKET,
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  PROMPTS_STREAM,
  PROMPTS_SUBJECTS,
  REJECTED_STREAM,
  REJECTED_SUBJECTS,
  SNAPSHOT_BUCKET,
  sessionOfStream,
  sessionSubjects,
  shardOfStream,
  shardSubjects,
  TELEMETRY_BUCKET,
  VECTOR_BUCKET,
} from '../../contracts/names.js';
import { LIFECYCLE_STREAM } from '../stores/kv-bucket.js';

/** The manifest of a backup. It is written last and atomically: a directory without it holds no complete backup. */
export const MANIFEST = 'throughline-backup.json';
/** Folder of the copies. */
export const STREAMS = 'streams';
/** Incremented by changes that an earlier version cannot read. */
const FORMAT = 1;

/** JetStream's own JSON is passed through unchanged. */
const asTheServerSaid = <T extends object>() =>
  z.custom<T>((value) => typeof value === 'object' && value !== null);

const storedStream = z.object({
  name: z.string(),
  /** Name of its file in `streams`: not a path. */
  file: z.string().regex(/^[A-Za-z0-9_.-]+$/),
  config: asTheServerSaid<StreamConfig & { name: string }>(),
  firstSequence: z.int().nonnegative(),
  lastSequence: z.int().nonnegative(),
  messages: z.int().nonnegative(),
  /** Size of the file and its SHA-256 in hex. */
  bytes: z.int().nonnegative(),
  sha256: z.string(),
});

const manifestShape = z.object({
  format: z.literal(FORMAT),
  id: z.string(),
  /** Versions of Throughline and of the server. */
  version: z.string(),
  server: z.string(),
  /** Start time, ISO 8601 in UTC. */
  at: z.iso.datetime(),
  layout: z.union([
    z.object({ layout: z.literal('per-session') }),
    z.object({ layout: z.literal('sharded'), shards: z.int().positive() }),
  ]),
  /** Consumers of `DISPATCH` with the first dispatch that each had not acknowledged at the start. */
  consumers: z.array(z.object({ config: asTheServerSaid<ConsumerConfig>(), start: z.int().positive() })),
  streams: z.array(storedStream),
});

export type BackupManifest = z.infer<typeof manifestShape>;
export type StoredStream = z.infer<typeof storedStream>;

/** @throws ThroughlineError `not_found` without a complete backup, `config_invalid` if it cannot be read */
export async function readManifest(directory: string): Promise<BackupManifest> {
  const path = join(directory, MANIFEST);
  let text: Buffer;
  try {
    text = await readFile(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw cannotRead(path, error);
    throw new ThroughlineError(
      'not_found',
      `${directory} holds no whole backup: ${MANIFEST}, which is written last, is missing. Give the directory of a backup that "throughline admin backup" has finished`,
    );
  }
  const json = jsonOf(text);
  const { data } = manifestShape.safeParse(json);
  if (data !== undefined) return data;
  const { data: newer } = z.object({ format: z.number().gt(FORMAT) }).safeParse(json);
  throw new ThroughlineError(
    'config_invalid',
    newer === undefined
      ? `${path} is damaged: use another backup`
      : `${path} has format ${newer.format}, and this version reads ${FORMAT}: update throughline`,
  );
}

export async function writeManifest(
  directory: string,
  manifest: Omit<BackupManifest, 'format'>,
): Promise<void> {
  const path = join(directory, MANIFEST);
  const file = await open(`${path}.part`, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(`${JSON.stringify({ format: FORMAT, ...manifest }, undefined, 1)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
}

/** A backup contains everything that agents said. */
export const OWNER_ONLY = 0o600;

export function cannotRead(path: string, error: unknown): ThroughlineError {
  const why = systemCode(error) ?? 'unknown';
  return new ThroughlineError('config_invalid', `${path} cannot be read (${why})`, { cause: error });
}

export const INSTALLATION_STREAM = `KV_${INSTALLATION_BUCKET}`;

/** Derived streams, which are copied before their sources. */
export const DERIVED = [
  INSTALLATION_STREAM,
  ...[SNAPSHOT_BUCKET, TELEMETRY_BUCKET, INDEX_BUCKET, LEARNING_SNAPSHOT_BUCKET, VECTOR_BUCKET].map(
    (name) => `KV_${name}`,
  ),
  PROMPTS_STREAM,
];

const SINGLE: ReadonlySet<string> = new Set([
  ...DERIVED,
  ...[REJECTED_STREAM, LEARNINGS_STREAM, LIFECYCLE_STREAM, DISPATCH_STREAM],
]);

/** Returns true if a stream holds events of sessions, in either layout. */
export function isSessionLog(stream: string): boolean {
  return sessionOfStream(stream) !== undefined || shardOfStream(stream) !== undefined;
}

export function isOwnStream(stream: string): boolean {
  return SINGLE.has(stream) || isSessionLog(stream);
}

/** The names of `isOwnStream` as a pattern for `grep -E`. */
export const OWN_STREAMS = `^(${[...SINGLE].sort().join('|')}|SESSION_[A-Za-z0-9_-]{1,64}|SESSIONS_[0-9a-f]{2})$`;

export async function ownStreams(jsm: JetStreamManager): Promise<string[]> {
  const names: string[] = [];
  for await (const name of jsm.streams.names()) if (isOwnStream(name)) names.push(name);
  return names.sort();
}

/**
 * Limits that are restored from a backup. A backup may come from a stranger: it must not restore a foreign stream, or one that
 * copies messages to or from other subjects. So subjects and sources follow from the name, and only limits are taken over.
 *
 * Times are in nanoseconds, and may exceed exact integers.
 */
const count = z.number().refine(Number.isInteger).optional().catch(undefined);
const limits = z.object({
  description: z.string().optional().catch(undefined),
  num_replicas: count,
  max_age: count,
  max_bytes: count,
  max_msgs: count,
  max_msgs_per_subject: count,
  max_msg_size: count,
  duplicate_window: count,
  discard: z.enum(DiscardPolicy).optional().catch(undefined),
  compression: z.enum(['none', 's2']).optional().catch(undefined),
  metadata: z.record(z.string(), z.string()).optional().catch(undefined),
});
/** Prefix of our metadata; the server adds its own. */
const OWN_METADATA = 'throughline.';

const SUBJECTS: Readonly<Record<string, string>> = {
  [DISPATCH_STREAM]: DISPATCH_SUBJECTS,
  [REJECTED_STREAM]: REJECTED_SUBJECTS,
  [PROMPTS_STREAM]: PROMPTS_SUBJECTS,
  [LEARNINGS_STREAM]: LEARNINGS_SUBJECTS,
};

/** Returns the configuration of one of our streams, with the limits of its copy. */
export function ownConfig(name: string, stored: object): StreamConfig & { name: string } {
  const { metadata = {}, discard = DiscardPolicy.Old, ...given } = limits.parse(stored);
  const shard = shardOfStream(name);
  const isBucket = name.startsWith('KV_');
  return {
    name,
    subjects: [subjectsOf(name)],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: isBucket ? DiscardPolicy.New : discard,
    allow_direct: true,
    ...(isBucket && name !== INSTALLATION_STREAM && { allow_rollup_hdrs: true, deny_delete: true }),
    ...(name === INSTALLATION_STREAM && { discard_new_per_subject: true }),
    ...(shard !== undefined && {
      subject_transform: { src: shardSubjects(shard), dest: 'session.{{wildcard(1)}}.>' },
    }),
    ...given,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([key]) => key.startsWith(OWN_METADATA))),
  } as StreamConfig & { name: string };
}

function subjectsOf(name: string): string {
  const session = sessionOfStream(name);
  if (session !== undefined) return sessionSubjects(session);
  const shard = shardOfStream(name);
  if (shard !== undefined) return shardSubjects(shard);
  return SUBJECTS[name] ?? `$KV.${name.slice('KV_'.length)}.>`;
}

const CONSUMERS: Readonly<Record<string, Partial<ConsumerConfig>>> = {
  [EXTRACTOR_CONSUMER]: {},
  [LEARNER_CONSUMER]: { filter_subject: DISPATCH_REVIEWS },
};
const consumerLimits = z.object({
  description: z.string().optional().catch(undefined),
  ack_wait: count,
  max_ack_pending: count,
});

/** Returns the configuration of a consumer of `DISPATCH`, or `undefined` if it is not ours. */
export function ownConsumer(stored: ConsumerConfig): Partial<ConsumerConfig> | undefined {
  const name = stored.durable_name ?? stored.name ?? '';
  const own = Object.hasOwn(CONSUMERS, name) ? CONSUMERS[name] : undefined;
  if (own === undefined) return undefined;
  const { description, ack_wait, max_ack_pending } = consumerLimits.parse(stored);
  return {
    ...own,
    ...(description !== undefined && { description }),
    ...(ack_wait !== undefined && { ack_wait }),
    ...(max_ack_pending !== undefined && { max_ack_pending }),
    durable_name: name,
    ack_policy: AckPolicy.Explicit,
    max_deliver: -1,
  };
}

/** @throws ThroughlineError `config_invalid` if it is not a backup of an installation */
export function requireOwn({ streams }: BackupManifest, directory: string): void {
  const foreign = streams.find(({ name }) => !isOwnStream(name));
  if (foreign !== undefined)
    throw notOurs(
      directory,
      `holds the stream ${JSON.stringify(foreign.name)}, which is not one of Throughline`,
    );
  if (!streams.some(({ name }) => name === DISPATCH_STREAM))
    throw notOurs(directory, `holds no stream ${DISPATCH_STREAM}, without which results would be lost`);
}

function notOurs(directory: string, why: string): ThroughlineError {
  return new ThroughlineError(
    'config_invalid',
    `${directory} ${why}: use a backup that "throughline admin backup" has made`,
  );
}
