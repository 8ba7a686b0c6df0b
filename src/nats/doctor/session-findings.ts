import type { JetStreamManager, NatsConnection, StreamInfo } from 'nats';
import { jsonOf } from '../../contracts/event.js';
import { lifecycleRecord } from '../../contracts/lifecycle-record.js';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  sessionOfStream,
  sessionOfSubject,
  sessionStream,
  sessionSubjects,
  shardOfStream,
  shardSubjects,
  type Token,
} from '../../contracts/names.js';
import type { SnapshotStore } from '../../engine/ports/session-log.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import { age, counted, named } from '../../shared/text.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { listedStreams, START_HOLDERS } from '../jetstream/list-streams.js';
import { RESTORE_ALL, SHARDS } from '../jetstream/topology.js';
import { type BucketOptions, KvBucket, keyOf } from '../stores/kv-bucket.js';
import { isDeletion } from '../stores/nats-snapshot-store.js';
import { type Finding, fail, ok, warn } from './finding.js';
import { streamFaults } from './stream-findings.js';

interface SessionsExamined {
  readonly jsm: JetStreamManager;
  readonly snapshots: Pick<SnapshotStore, 'load'>;
  readonly replicas: number;
}

/** Checks the streams of sessions in the layout `per-session`, and their snapshots. */
export async function sessionFindings(examined: SessionsExamined): Promise<Finding[]> {
  const { jsm, replicas, snapshots } = examined;
  const { streams, leaderless } = await sessionStreams(jsm);
  const faults = [
    ...leaderlessFindings('session', leaderless),
    ...streams.flatMap(({ session, info }) =>
      streamFaults(info, { name: sessionStream(session), subjects: sessionSubjects(session), replicas }),
    ),
  ];
  const logs = streams.map(({ session, info: { config, state } }) => ({
    key: session,
    events: state.messages,
    stream: config.name,
    last: state.last_seq,
  }));
  return [
    ...manySessions(streams.length + leaderless.length),
    ...(await tailFindings({ jsm, kind: 'session', logs, snapshots, faults })),
  ];
}

/** Number of streams that a single server handles well. */
const MANY_SESSIONS = 2000;

/** Recommends the sharded layout for many sessions. */
export function manySessions(count: number): Finding[] {
  if (count <= MANY_SESSIONS) return [];
  const message = `${count} sessions have a stream each: every stream takes memory of the server, and time when it starts`;
  return [
    warn(
      'layout',
      message,
      'move them into a new installation with --layout sharded: throughline session export --all',
    ),
  ];
}

/** Reports streams without a leader, which can be neither read nor written. */
function leaderlessFindings(kind: 'session' | 'shard', names: readonly string[]): Finding[] {
  if (names.length === 0) return [];
  const message = `${counted(names.length, `${kind} has`, `${kind}s have`)} no leader in the cluster (${named(names)}): events can be neither stored nor read`;
  return [fail(`${kind}s`, message, `${START_HOLDERS}: nats server report jetstream`)];
}

async function sessionStreams(jsm: JetStreamManager) {
  const streams: { readonly session: Token; readonly info: StreamInfo }[] = [];
  try {
    const { found, leaderless } = await listedStreams(jsm, ALL_SESSIONS);
    for (const info of found) {
      const session = sessionOfStream(info.config.name);
      if (session !== undefined) streams.push({ session, info });
    }
    return { streams, leaderless: leaderless.flatMap((name) => sessionOfStream(name) ?? []).sort() };
  } catch (error) {
    throw toThroughlineError(error, 'listing sessions');
  }
}

/** Few imports take longer, in milliseconds. */
const LONG_MS = 600_000;

/** Finds unfinished imports, which hold back results of their sessions. */
export async function importFindings(
  connection: NatsConnection,
  options: BucketOptions,
  now: number,
): Promise<Finding[]> {
  const messages = await new KvBucket(connection, options).read(undefined, options.timeoutMs);
  const since = (at: string) => age(at, new Date(now).toISOString());
  return messages.flatMap((message) => {
    if (message.foreign !== undefined || isDeletion(message)) return [];
    const found = lifecycleRecord(keyOf(message), jsonOf(message.data));
    if (found?.kind !== 'archived') return [];
    const { session, record } = found;
    if (record.importing === undefined || now - Date.parse(record.at) < LONG_MS) return [];
    return warn(
      `import of session ${session}`,
      `it began ${since(record.at)} and has not ended: results of the session wait until then`,
      `run "throughline session import" again with the same file, which continues it, or "throughline session rm ${session}"`,
    );
  });
}

interface ShardsExamined extends SessionsExamined {
  readonly shards: number;
}

/** Checks the streams of shards, and the snapshots of their sessions. */
export async function shardFindings(examined: ShardsExamined): Promise<Finding[]> {
  const { jsm, shards, snapshots } = examined;
  const logs: ExaminedLog[] = [];
  const faults: Finding[] = [];
  let made = 0;
  let leaderless: string[] = [];
  try {
    const listed = await listedStreams(jsm, ALL_SHARDS);
    leaderless = listed.leaderless.filter((name) => shardOfStream(name) !== undefined).sort();
    made = leaderless.length;
    for (const { config } of listed.found) {
      const shard = shardOfStream(config.name);
      if (shard === undefined) continue;
      made += 1;
      const info = await jsm.streams.info(config.name, { subjects_filter: ALL_SESSIONS });
      faults.push(...shardFaults(info, shard, examined));
      const last = info.state.last_seq;
      for (const [key, events] of eventsBySession(info))
        logs.push({ key, events, stream: config.name, last });
    }
  } catch (error) {
    throw toThroughlineError(error, 'listing sessions');
  }
  const all = made >= shards ? '' : ': the first session of each makes it';
  return [
    ok('layout', `${made} of ${counted(shards, 'shard')} made${all}`),
    ...(await tailFindings({
      ...{ jsm, kind: 'session', logs, snapshots },
      faults: [...leaderlessFindings('shard', leaderless), ...faults],
    })),
  ];
}

function shardFaults(info: StreamInfo, shard: number, { shards, replicas }: ShardsExamined): Finding[] {
  const { name, metadata, subject_transform: transform } = info.config;
  const found = streamFaults(info, { name, subjects: shardSubjects(shard), replicas });
  if (transform === undefined) {
    const message = 'stores events under the subjects of its shard: no reader finds them';
    found.push(
      fail(`stream ${name}`, message, `nats stream edit ${name}, with the transform of another shard`),
    );
  }
  const count = metadata?.[SHARDS];
  if (count !== undefined && count !== String(shards)) {
    const message = `is one of ${count} shards, but the installation has ${counted(shards, 'shard')}`;
    found.push(
      fail(`stream ${name}`, message, 'restore the bucket throughline that belongs to these streams'),
    );
  }
  return found;
}

function eventsBySession({ state }: StreamInfo): Map<Token, number> {
  const sessions = new Map<Token, number>();
  for (const [subject, events] of Object.entries(state.subjects ?? {})) {
    const session = sessionOfSubject(subject);
    if (session !== undefined) sessions.set(session, (sessions.get(session) ?? 0) + events);
  }
  return sessions;
}

/** Snapshots that are read, of the longest logs: each costs one or two requests. */
const MAX_READ = 500;
const AT_A_TIME = 16;
const SHOWN = 10;

export interface ExaminedLog {
  readonly key: Token;
  readonly events: number;
  readonly stream: string;
  /** Last sequence of its stream when it was listed. */
  readonly last: number;
}

interface TailsExamined {
  readonly jsm: JetStreamManager;
  readonly kind: 'session' | 'project';
  readonly logs: readonly ExaminedLog[];
  readonly snapshots: Pick<SnapshotStore, 'load'>;
  readonly faults: readonly Finding[];
}

export async function tailFindings(examined: TailsExamined): Promise<Finding[]> {
  const { jsm, kind, logs, snapshots, faults } = examined;
  const found = [...faults];
  const turns = new Semaphore(AT_A_TIME);
  const longest = logs.toSorted((one, other) => other.events - one.events).slice(0, MAX_READ);
  const read = longest.map(({ key, stream, last }) =>
    turns.run(async () => {
      const at = (await snapshots.load(key))?.sequence ?? 0;
      if (at <= last) return;
      // The snapshot may be newer than the list.
      const now = (await ifExists(jsm.streams.info(stream), `looking at stream ${stream}`))?.state.last_seq;
      if (now === undefined || at <= now) return;
      const message = `its stream is at ${now} and its snapshot at ${at}: it was restored from an earlier backup, and new events would not count`;
      found.push(fail(`${kind} ${key}`, message, RESTORE_ALL));
    }),
  );
  await Promise.all(read);
  if (found.length === 0) return [ok(`${kind}s`, counted(logs.length, kind))];
  const hidden = found.length - SHOWN;
  return [
    ...found.slice(0, SHOWN),
    ...(hidden > 0
      ? [warn(`${kind}s`, counted(hidden, 'further finding'), 'fix these first, then check again')]
      : []),
  ];
}
