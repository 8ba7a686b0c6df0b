import {
  DiscardPolicy,
  type JetStreamManager,
  type NatsConnection,
  nanos,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
  type StreamInfo,
} from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import * as names from '../../contracts/names.js';
import { Semaphore } from '../../engine/runtime/pacing.js';
import { API, apiCode, ifExists, takenByAnother } from '../connection/nats-errors.js';
import type { AckedPublisher } from './acked-publisher.js';
import { newestOf } from './newest-page.js';

/** Options of streams created if missing. Retention, replicas and limits of an existing one never change. */
export interface TopologyOptions {
  /** Copies of each new stream: 1, or 3 in a cluster. */
  readonly replicas: number;
}

export interface StorePorts extends TopologyOptions {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly publisher: AckedPublisher;
  /** Deadline of one request to the server, in milliseconds. */
  readonly timeoutMs: number;
}

/** The subject of `DISPATCH` during a restore, so that it accepts no result before all else is there. */
export const RESTORING_SUBJECT = 'throughline.restoring';
export const BEING_RESTORED =
  'a backup is being restored into this installation, or its restore was cut off: wait for its end, or run "throughline admin restore DIR" again';

const BUCKETS = [names.LIFECYCLE_BUCKET, names.SNAPSHOT_BUCKET, names.INDEX_BUCKET];

/** Streams and subjects, except session logs, leases and the layout: each before those it derives from or refers to. */
export const STREAMS: ReadonlyMap<string, string> = new Map([
  ...BUCKETS.map((bucket) => [`KV_${bucket}`, `$KV.${bucket}.>`] as const),
  [names.PROMPTS_STREAM, names.PROMPTS_SUBJECTS],
  [names.REJECTED_STREAM, names.REJECTED_SUBJECTS],
  [names.LEARNINGS_STREAM, names.LEARNINGS_SUBJECTS],
  [names.DISPATCH_STREAM, names.DISPATCH_SUBJECTS],
]);

/** With more streams of sessions, the server takes seconds to start, and a prompt right after that waits. */
export const MANY_STREAMS = 2000;
export const MOVE_TO_SHARDS =
  'to move to shards, export all sessions ("throughline session export --all"), and import them into a new installation ' +
  'with THROUGHLINE_LAYOUT=sharded';

export function isSessionLog(stream: string): boolean {
  return names.sessionOfStream(stream) !== undefined || names.shardOfStream(stream) !== undefined;
}

/** Returns the subjects of one of our streams; `undefined` for any other. */
export function subjectsOf(stream: string): string | undefined {
  const session = names.sessionOfStream(stream);
  if (session !== undefined) return names.sessionSubjects(session);
  const shard = names.shardOfStream(stream);
  return shard === undefined ? STREAMS.get(stream) : names.shardSubjects(shard);
}

export const RING_SIZE = 200;

type NamedConfig = Partial<StreamConfig> & { name: string };

/** Gap behind the old numbers when a stream is created again. */
const SEQUENCE_MARGIN = 100_000;

/** Gap behind the mark of dispatch numbers, which lags behind while the keeper does not run. */
const DISPATCH_MARGIN = 1_000_000;

/** The highest number that `DISPATCH` is known to have given: see `dispatchNumbers`. */
export interface HighWaterMark {
  highest(): Promise<number | undefined>;
  record(number: number): Promise<void>;
}

/** Finds the stream of dispatches, or creates it. Throws ThroughlineError `config_invalid` if it was restored alone. */
export async function ensureDispatchStream(
  jsm: JetStreamManager,
  options: TopologyOptions,
  numbers: HighWaterMark,
): Promise<void> {
  const config = fileStream(names.DISPATCH_STREAM, 'Results as agent runtimes published them', options);
  const there = await existing(jsm, config);
  const highest = await numbers.highest();
  if (there === undefined) {
    const first = highest === undefined ? {} : { first_seq: highest + DISPATCH_MARGIN };
    await create(jsm, { ...config, ...first });
  } else if (highest !== undefined && there.state.last_seq < highest)
    throw restoredAlone(names.DISPATCH_STREAM, there.state.last_seq, `the installation has given ${highest}`);
  if (highest === undefined) await numbers.record(there?.state.last_seq ?? 0);
}

/** Returns true if it was created. */
export function ensureRejectedStream(jsm: JetStreamManager, options: TopologyOptions): Promise<boolean> {
  return ensured(jsm, fileStream(names.REJECTED_STREAM, 'Results that could not be used', options));
}

/** Retention of compiled prompts, so that unused ones do not fill the disk. */
const PROMPTS_MAX_AGE_DAYS = 30;

/** Returns true if it was created. */
export function ensurePromptsStream(jsm: JetStreamManager, options: TopologyOptions): Promise<boolean> {
  return ensured(jsm, {
    ...fileStream(names.PROMPTS_STREAM, 'Traces of the prompts compiled last', options),
    max_msgs_per_subject: RING_SIZE,
    max_age: nanos(PROMPTS_MAX_AGE_DAYS * 86_400_000),
  });
}

export async function ensureLearningsStream(jsm: JetStreamManager, options: TopologyOptions): Promise<void> {
  if ((await existing(jsm, learningsStream(options))) === undefined)
    await createLearningsStream(jsm, 0, options);
}

/** Creates the stream of learnings, or finds it; sequences are not reused. */
export async function createLearningsStream(
  jsm: JetStreamManager,
  highest: number,
  options: TopologyOptions,
): Promise<StreamInfo> {
  return createShared(jsm, learningsStream(options), highest, (key) => key.startsWith(names.PROJECT_KEY));
}

function learningsStream(options: TopologyOptions): NamedConfig {
  return fileStream(names.LEARNINGS_STREAM, 'Learnings and proposals of each project', options);
}

/** Dedupe window of shards: long enough for a lost answer, and no longer, as the server reads all of it at its start. */
const SHARD_DEDUPE_MS = 30_000;

export const SHARDS = 'throughline.shards';

/**
 * Creates the stream of a session or shard, or finds it. Sequences up to `highest`, seen in an earlier one, are not reused: a
 * snapshot or a cached state would count as newer than the new events.
 */
export async function createLogStream(
  jsm: JetStreamManager,
  layout: names.SessionLayout,
  name: string,
  highest: number,
  options: TopologyOptions,
): Promise<StreamInfo> {
  const session = names.sessionOfStream(name);
  if (session !== undefined) {
    const config = fileStream(name, `Events of session ${session}`, options);
    return createBeyond(jsm, config, Math.max(highest, await newestSnapshot(jsm, session)));
  }
  const shards = layout.layout === 'sharded' ? layout.shards : 1;
  const shard = names.shardOfStream(name) ?? 0;
  const description = `Events of the sessions of shard ${shard} of ${shards}`;
  const config = {
    ...fileStream(name, description, options),
    ...shardConfig(shard, String(shards)),
    duplicate_window: nanos(SHARD_DEDUPE_MS),
  };
  const isInShard = (key: string) => names.isToken(key) && names.shardOf(key, shards) === shard;
  return createShared(jsm, config, highest, isInShard);
}

/** The part of a shard's configuration that follows from its number and their count. */
export function shardConfig(
  shard: number,
  shards: string,
): Pick<StreamConfig, 'metadata' | 'subject_transform'> {
  return {
    subject_transform: { src: names.shardSubjects(shard), dest: 'session.{{wildcard(1)}}.>' },
    metadata: { [SHARDS]: shards },
  };
}

/** Finds a stream, or creates it beyond the snapshots of its keys, each of which costs a request. */
async function createShared(
  jsm: JetStreamManager,
  config: NamedConfig,
  highest: number,
  isOfStream: (key: string) => boolean,
): Promise<StreamInfo> {
  const there = await ifExists(jsm.streams.info(config.name));
  return there ?? createBeyond(jsm, config, Math.max(highest, await highestSnapshot(jsm, isOfStream)));
}

/** Creates a stream, or finds it. Sequences up to `seen` are not reused. */
async function createBeyond(jsm: JetStreamManager, config: NamedConfig, seen: number): Promise<StreamInfo> {
  const made = await create(jsm, seen === 0 ? config : { ...config, first_seq: seen + SEQUENCE_MARGIN });
  return made ?? jsm.streams.info(config.name);
}

/** Reports a stream whose next numbers others have seen already: what is stored under them would not count. */
export function restoredAlone(stream: string, last: number, seen: string): ThroughlineError {
  return new ThroughlineError(
    'config_invalid',
    `stream ${stream} is at ${last}, but ${seen}: it was restored from an earlier backup, and new messages would not count: restore all streams of one backup, with "throughline admin restore DIR"`,
  );
}

const SNAPSHOTS = `KV_${names.SNAPSHOT_BUCKET}`;

/** Returns the sequence of the newest snapshot of a session, or under the key of a project; 0 for none. */
export async function newestSnapshot(jsm: JetStreamManager, key: string): Promise<number> {
  const at = (message: StoredMsg) => snapshotSequence(message.string()) || undefined;
  return (await newestOf(jsm, SNAPSHOTS, `$KV.${names.SNAPSHOT_BUCKET}.${key}`, at)) ?? 0;
}

async function highestSnapshot(jsm: JetStreamManager, isMeant: (key: string) => boolean): Promise<number> {
  const { state } = (await ifExists(jsm.streams.info(SNAPSHOTS, { subjects_filter: '>' }))) ?? {};
  const before = `$KV.${names.SNAPSHOT_BUCKET}.`.length;
  const keys = Object.keys(state?.subjects ?? {}).map((subject) => subject.slice(before));
  const turns = new Semaphore(READ_AT_ONCE);
  const found = keys.filter(isMeant).map((key) => turns.run(() => newestSnapshot(jsm, key)));
  return Math.max(0, ...(await Promise.all(found)));
}

const READ_AT_ONCE = 16;

/** Extracts the sequence from the beginning of a snapshot's text; 0 for any other text. */
export function snapshotSequence(text: string): number {
  return Number(/^\{"after_sequence":(\d+),/.exec(text)?.[1] ?? 0);
}

function fileStream(name: string, description: string, options: TopologyOptions): NamedConfig {
  return {
    name,
    subjects: [subjectsOf(name) ?? []].flat(),
    description,
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    allow_direct: true,
    num_replicas: options.replicas,
  };
}

/** Creates a stream unless it exists; returns true if it was created. */
export async function ensured(jsm: JetStreamManager, config: NamedConfig): Promise<boolean> {
  if ((await existing(jsm, config)) !== undefined) return false;
  await create(jsm, config);
  return true;
}

async function existing(jsm: JetStreamManager, { name, subjects: [subjects = ''] = [] }: NamedConfig) {
  const info = await ifExists(jsm.streams.info(name));
  if (info === undefined || (info.config.subjects.includes(subjects) && info.config.allow_direct))
    return info;
  if (info.config.subjects.includes(RESTORING_SUBJECT))
    throw new ThroughlineError('config_invalid', BEING_RESTORED);
  throw new ThroughlineError(
    'config_invalid',
    `stream ${name} exists, but must take ${subjects} and allow direct get: see "nats stream edit ${name}"`,
  );
}

async function create(jsm: JetStreamManager, config: NamedConfig): Promise<StreamInfo | undefined> {
  try {
    return await jsm.streams.add(config);
  } catch (error) {
    // Another worker has just created it, perhaps with other settings.
    if (apiCode(error) === API.streamNameInUse) return undefined;
    if (apiCode(error) !== API.subjectsOverlap) throw error;
    const subjects = config.subjects?.join(', ') ?? '';
    const owners = await strangersOn(jsm, subjects);
    throw takenByAnother(subjects, owners.join(', ') || 'unknown', config.name);
  }
}

export async function strangersOn(jsm: JetStreamManager, subjects: string): Promise<string[]> {
  const strangers: string[] = [];
  for await (const name of jsm.streams.names(subjects))
    if (subjectsOf(name) === undefined) strangers.push(name);
  return strangers;
}

/**
 * Refuses to start if a stream of another application has the events of sessions. In the layout `per-session` one session stands
 * for all, to avoid listing thousands of streams; the doctor checks each.
 */
export async function refuseStrangersOnSessions(
  jsm: JetStreamManager,
  layout: names.SessionLayout,
): Promise<void> {
  const [subjects, looked, ours] =
    layout.layout === 'per-session'
      ? [names.ALL_SESSIONS, names.sessionSubject(names.token('any', 'session'), 'result.0'), 'SESSION_NAME']
      : [names.ALL_SHARDS, names.ALL_SHARDS, names.shardStream(0)];
  const owners = await strangersOn(jsm, looked);
  if (owners.length > 0) throw takenByAnother(subjects, owners.join(', '), ours);
}
