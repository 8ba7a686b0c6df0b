import {
  DiscardPolicy,
  type JetStreamManager,
  nanos,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
  type StreamInfo,
  type StreamInfoRequestOptions,
} from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  DISPATCH_STREAM,
  DISPATCH_SUBJECTS,
  isToken,
  LEARNING_SNAPSHOT_BUCKET,
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  PROMPTS_STREAM,
  PROMPTS_SUBJECTS,
  REJECTED_STREAM,
  REJECTED_SUBJECTS,
  SNAPSHOT_BUCKET,
  sessionOfStream,
  sessionStream,
  sessionSubject,
  sessionSubjects,
  shardOfStream,
  shardStream,
  shardSubjects,
  type Token,
  token,
} from '../../contracts/names.js';
import { type SessionLayout, shardOf } from '../../contracts/session-layout.js';
import { RING_SIZE } from '../../engine/ports/telemetry-store.js';
import { API, apiCode, takenByAnother } from '../connection/nats-errors.js';
import { snapshotSequence } from '../stores/snapshot-sequence.js';
import { newestOf } from './newest-page.js';

/**
 * The streams, made where they are missing and otherwise left as their owner has set them: retention, replicas and
 * limits of an existing stream are never changed.
 */
export interface TopologyOptions {
  /** Copies of each stream that is made: 1, or 3 in a cluster. */
  readonly replicas: number;
  /** Whether the server knows batches of fast ingest: then shards take them. Default: not. */
  readonly batches?: boolean;
}

/** As the server calls it; the client's type does not have it. */
const ALLOW_BATCHED = 'allow_batched';

/** Whether a stream takes batches of fast ingest. */
export function takesBatches(config: StreamConfig): boolean {
  return Reflect.get(config, ALLOW_BATCHED) === true;
}

/** A stream that is made again continues well after the old one's numbers. */
const SEQUENCE_MARGIN = 100_000;

/** @param highest gives the highest dispatch that is known of, where there is no stream */
export async function ensureDispatchStream(
  jsm: JetStreamManager,
  options: TopologyOptions,
  highest: () => Promise<number>,
): Promise<void> {
  const config = fileStream(
    DISPATCH_STREAM,
    DISPATCH_SUBJECTS,
    'Results as agent runtimes published them',
    options,
  );
  if (await exists(jsm, DISPATCH_STREAM, DISPATCH_SUBJECTS)) return;
  // The fold tells dispatches apart by their sequence. Should the stream have been deleted, numbers that sessions
  // have seen must not come again: their dispatches would pass for repetitions.
  await createBeyond(jsm, config, await highest());
}

/** Says whether it had to be made. */
export async function ensureRejectedStream(
  jsm: JetStreamManager,
  options: TopologyOptions,
): Promise<boolean> {
  if (await exists(jsm, REJECTED_STREAM, REJECTED_SUBJECTS)) return false;
  await create(
    jsm,
    fileStream(REJECTED_STREAM, REJECTED_SUBJECTS, 'Results that could not be used', options),
  );
  return true;
}

/** How long a compiled prompt is kept at most: what no one looks at must not fill the disk. */
const PROMPTS_MAX_AGE_DAYS = 30;

/** Says whether it had to be made. */
export async function ensurePromptsStream(jsm: JetStreamManager, options: TopologyOptions): Promise<boolean> {
  if (await exists(jsm, PROMPTS_STREAM, PROMPTS_SUBJECTS)) return false;
  await create(jsm, {
    ...fileStream(PROMPTS_STREAM, PROMPTS_SUBJECTS, 'Traces of the prompts compiled last', options),
    max_msgs_per_subject: RING_SIZE,
    max_age: nanos(PROMPTS_MAX_AGE_DAYS * 86_400_000),
  });
  return true;
}

export async function ensureLearningsStream(jsm: JetStreamManager, options: TopologyOptions): Promise<void> {
  if (!(await exists(jsm, LEARNINGS_STREAM, LEARNINGS_SUBJECTS)))
    await createLearningsStream(jsm, 0, options);
}

/** Makes the stream of learnings, or finds it made by another process; as with sessions, no sequence comes again. */
export async function createLearningsStream(
  jsm: JetStreamManager,
  highest: number,
  options: TopologyOptions,
): Promise<StreamInfo> {
  const config = fileStream(
    LEARNINGS_STREAM,
    LEARNINGS_SUBJECTS,
    'Learnings and proposals of each project',
    options,
  );
  return createShared(jsm, config, highest, () => newestLearningSnapshot(jsm));
}

/** A stream for the sessions of one shard, with how many shards there are. */
interface Shard {
  readonly shard: number;
  readonly shards: number;
}

/**
 * Makes the stream of a shard, or finds it made by another process. No sequence comes again that the caller has seen, or
 * that the snapshot of any session of the shard stands at.
 */
function createShardStream(
  jsm: JetStreamManager,
  { shard, shards }: Shard,
  highest: number,
  options: TopologyOptions,
): Promise<StreamInfo> {
  const description = `Events of the sessions of shard ${shard} of ${shards}`;
  const config = {
    ...fileStream(shardStream(shard), shardSubjects(shard), description, options),
    subject_transform: { src: shardSubjects(shard), dest: 'session.{{wildcard(1)}}.>' },
    duplicate_window: nanos(SHARD_DEDUPE_MS),
    ...(options.batches && { [ALLOW_BATCHED]: true }),
    metadata: { [SHARDS]: String(shards) },
  };
  return createShared(jsm, config, highest, () => newestShardSnapshot(jsm, { shard, shards }));
}

/**
 * How long the server knows message ids. When it starts it reads all events of that time again, and shards take those of
 * thousands of sessions: long enough for an answer that was lost, and not for more. The fold counts once anyway.
 */
const SHARD_DEDUPE_MS = 30_000;

/** What the stream of a shard says of the number of shards. */
export const SHARDS = 'throughline.shards';

/** Finds a stream, or makes it beyond the snapshots of all its keys: to look at these takes a request each. */
async function createShared(
  jsm: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
  highest: number,
  snapshot: () => Promise<number>,
): Promise<StreamInfo> {
  const there = await infoOf(jsm, config.name);
  return there ?? createBeyond(jsm, config, Math.max(highest, await snapshot()));
}

/** Makes a stream, or finds it made by another process. Sequences up to the highest that was seen do not come again. */
async function createBeyond(
  jsm: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
  seen: number,
): Promise<StreamInfo> {
  const made = await create(jsm, seen === 0 ? config : { ...config, first_seq: seen + SEQUENCE_MARGIN });
  return made ?? jsm.streams.info(config.name);
}

export function behindSnapshot(stream: string, last: number, snapshot: number): ThroughlineError {
  return new ThroughlineError(
    'config_invalid',
    `stream ${stream} is at ${last}, but its snapshot at ${snapshot}: it was restored from an earlier backup, and new events would not count: run "throughline admin repair"`,
  );
}

/** Sequence of a session's newest snapshot, 0 for none. */
export async function newestSnapshot(jsm: JetStreamManager, session: Token): Promise<number> {
  const subject = `$KV.${SNAPSHOT_BUCKET}.${session}`;
  return (await newestOf(jsm, `KV_${SNAPSHOT_BUCKET}`, subject, snapshotAt)) ?? 0;
}

/** Sequence of a project's newest snapshot, 0 for none. */
export async function newestProjectSnapshot(jsm: JetStreamManager, project: Token): Promise<number> {
  const subject = `$KV.${LEARNING_SNAPSHOT_BUCKET}.${project}`;
  return (await newestOf(jsm, `KV_${LEARNING_SNAPSHOT_BUCKET}`, subject, snapshotAt)) ?? 0;
}

/** Highest sequence that a project's newest snapshot stands at, 0 without any. */
export function newestLearningSnapshot(jsm: JetStreamManager): Promise<number> {
  return highestSnapshot(jsm, LEARNING_SNAPSHOT_BUCKET, () => true);
}

/**
 * Makes the stream that holds the log of sessions, or finds it made: that of one session, or of a shard.
 *
 * If there was one before, its sequences must not come again: a snapshot, or a state in the memory of a process, counts
 * as newer than events with lower ones.
 *
 * @param highest highest sequence that was seen of it
 */
export async function createLogStream(
  jsm: JetStreamManager,
  layout: SessionLayout,
  name: string,
  highest: number,
  options: TopologyOptions,
): Promise<StreamInfo> {
  const session = sessionOfStream(name);
  if (session === undefined) {
    const shards = layout.layout === 'sharded' ? layout.shards : 1;
    return createShardStream(jsm, { shard: shardOfStream(name) ?? 0, shards }, highest, options);
  }
  const config = fileStream(name, sessionSubjects(session), `Events of session ${session}`, options);
  return createBeyond(jsm, config, Math.max(highest, await newestSnapshot(jsm, session)));
}

/** Highest sequence that the newest snapshot of a session of a shard stands at, 0 without any. */
export function newestShardSnapshot(jsm: JetStreamManager, { shard, shards }: Shard): Promise<number> {
  return highestSnapshot(jsm, SNAPSHOT_BUCKET, (key) => isToken(key) && shardOf(key, shards) === shard);
}

async function highestSnapshot(
  jsm: JetStreamManager,
  bucket: string,
  isMeant: (key: string) => boolean,
): Promise<number> {
  const stream = `KV_${bucket}`;
  const { state } = (await infoOf(jsm, stream, { subjects_filter: '>' })) ?? {};
  const before = `$KV.${bucket}.`.length;
  const subjects = Object.keys(state?.subjects ?? {}).filter((each) => isMeant(each.slice(before)));
  let highest = 0;
  for (let at = 0; at < subjects.length; at += READ_AT_ONCE) {
    const some = subjects.slice(at, at + READ_AT_ONCE);
    const found = await Promise.all(some.map((subject) => newestOf(jsm, stream, subject, snapshotAt)));
    highest = Math.max(highest, ...found.map((sequence) => sequence ?? 0));
  }
  return highest;
}

const READ_AT_ONCE = 16;

/** The sequence of the snapshot in a message. */
function snapshotAt(message: StoredMsg): number | undefined {
  return snapshotSequence(message.string()) || undefined;
}

function fileStream(
  name: string,
  subjects: string,
  description: string,
  options: TopologyOptions,
): Partial<StreamConfig> & { name: string } {
  return {
    name,
    subjects: [subjects],
    description,
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    allow_direct: true,
    num_replicas: options.replicas,
  };
}

async function exists(jsm: JetStreamManager, name: string, subjects: string): Promise<boolean> {
  const info = await infoOf(jsm, name);
  if (info === undefined) return false;
  if (info.config.subjects.includes(subjects) && info.config.allow_direct) return true;
  throw new ThroughlineError(
    'config_invalid',
    `stream ${name} exists, but must take ${subjects} and allow direct get: see "nats stream edit ${name}"`,
  );
}

/** What is known of a stream, or `undefined` where there is none. */
async function infoOf(
  jsm: JetStreamManager,
  name: string,
  options?: Partial<StreamInfoRequestOptions>,
): Promise<StreamInfo | undefined> {
  try {
    return await jsm.streams.info(name, options);
  } catch (error) {
    if (apiCode(error) === API.streamNotFound) return undefined;
    throw error;
  }
}

async function create(
  jsm: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<StreamInfo | undefined> {
  try {
    return await jsm.streams.add(config);
  } catch (error) {
    // Another worker made it a moment before, with other settings perhaps: theirs stand.
    if (apiCode(error) === API.streamNameInUse) return undefined;
    if (apiCode(error) !== API.subjectsOverlap) throw error;
    const subjects = config.subjects?.join(', ') ?? '';
    const owners = await strangersOn(jsm, subjects, (name) => name === config.name);
    throw takenByAnother(subjects, owners.join(', ') || 'unknown', config.name);
  }
}

/** The streams that are not ours and take some of these subjects. */
export async function strangersOn(
  jsm: JetStreamManager,
  subjects: string,
  isOurs: (stream: string) => boolean,
): Promise<string[]> {
  const strangers: string[] = [];
  for await (const name of jsm.streams.names(subjects)) if (!isOurs(name)) strangers.push(name);
  return strangers;
}

/**
 * Refuses to begin where another application's stream takes the events of all sessions: no session could get a stream.
 *
 * One session stands for all, so that an account with thousands of them is not listed; the doctor looks at each.
 */
export async function refuseStrangersOnSessions(jsm: JetStreamManager, layout: SessionLayout): Promise<void> {
  if (layout.layout !== 'per-session') {
    const owners = await strangersOn(jsm, ALL_SHARDS, (name) => shardOfStream(name) !== undefined);
    if (owners.length > 0) throw takenByAnother(ALL_SHARDS, owners.join(', '), shardStream(0));
    return;
  }
  const any = sessionSubject(token('any', 'session'), 'fact.recorded');
  const owners = await strangersOn(jsm, any, (name) => sessionOfStream(name) !== undefined);
  if (owners.length > 0)
    throw takenByAnother(ALL_SESSIONS, owners.join(', '), sessionStream(token('NAME', 'session')));
}
