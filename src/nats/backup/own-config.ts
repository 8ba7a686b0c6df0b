import {
  AckPolicy,
  type ConsumerConfig,
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from 'nats';
import { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  DISPATCH_REVIEWS,
  DISPATCH_STREAM,
  DISPATCH_SUBJECTS,
  EXTRACTOR_CONSUMER,
  LEARNER_CONSUMER,
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  PROMPTS_STREAM,
  PROMPTS_SUBJECTS,
  REJECTED_STREAM,
  REJECTED_SUBJECTS,
  sessionOfStream,
  sessionSubjects,
  shardOfStream,
  shardSubjects,
} from '../../contracts/names.js';
import type { BackupManifest } from './backup-manifest.js';
import { INSTALLATION_STREAM, isOwnStream } from './own-streams.js';

/**
 * The configuration that streams and consumers of a backup are restored with. A backup is a file, perhaps of someone else: a
 * stream that is not ours, or one that copies its messages to or from other subjects, must not come with it. So all that
 * decides where messages come from and go to follows from the name, and of a backup only its limits are used.
 */
/** Times are nanoseconds: a hundred days are more than JavaScript counts exactly. */
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
  allow_batched: z.boolean().optional().catch(undefined),
  metadata: z.record(z.string(), z.string()).optional().catch(undefined),
});
/** What the metadata of our own begins with; the server adds its own. */
const OWN_METADATA = 'throughline.';

const SUBJECTS: Readonly<Record<string, string>> = {
  [DISPATCH_STREAM]: DISPATCH_SUBJECTS,
  [REJECTED_STREAM]: REJECTED_SUBJECTS,
  [PROMPTS_STREAM]: PROMPTS_SUBJECTS,
  [LEARNINGS_STREAM]: LEARNINGS_SUBJECTS,
};

/** The configuration of one of our streams, with the limits of a copy of it. */
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

/** The configuration of a consumer of `DISPATCH`, or `undefined` for one that is not ours. */
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

/** @throws ThroughlineError `config_invalid` for a backup that is not one of an installation */
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
    `${directory} ${why}: use a backup that "throughline backup" has made`,
  );
}
