import type { JetStreamManager, StreamInfo } from 'nats';
import {
  ALL_SESSIONS,
  sessionOfStream,
  sessionStream,
  sessionSubjects,
  type Token,
} from '../../contracts/names.js';
import type { SnapshotStore } from '../../ports/snapshot-store.js';
import { counted } from '../../shared/counted.js';
import { named } from '../../shared/named.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { listedStreams, START_HOLDERS } from '../jetstream/list-streams.js';
import { type Finding, fail, warn } from './finding.js';
import { streamFaults } from './stream-findings.js';
import { tailFindings } from './tail-findings.js';

export interface SessionsExamined {
  readonly jsm: JetStreamManager;
  readonly snapshots: Pick<SnapshotStore, 'load'>;
  readonly replicas: number;
  /** Events after which a snapshot is written. */
  readonly snapshotEvery: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The streams of sessions that have one each, and the snapshots that are far behind them. */
export async function sessionFindings(examined: SessionsExamined): Promise<Finding[]> {
  const { jsm, replicas, snapshots, snapshotEvery, now } = examined;
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
    // The stream is the session's own: its sequences are dense.
    eventsAfter: async (from: number) => Math.max(0, state.last_seq - Math.max(from, state.first_seq - 1)),
  }));
  return [
    ...manySessions(streams.length + leaderless.length),
    ...(await tailFindings({
      ...{ jsm, kind: 'session', logs, snapshots, snapshotEvery, now, faults },
      writes: writesSnapshot,
    })),
  ];
}

export function writesSnapshot(session: Token): string {
  return `throughline snapshot write --session ${session}`;
}

/** Sessions with a stream each beyond which a server should not go for long. */
const MANY_SESSIONS = 2000;

/** The advice to share streams, where there are many. */
export function manySessions(count: number): Finding[] {
  if (count <= MANY_SESSIONS) return [];
  const message = `${count} sessions have a stream each: every stream takes memory of the server, and time when it starts`;
  return [
    warn(
      'layout',
      message,
      'restore a backup of it with --layout sharded, into an empty installation: throughline restore DIR --layout sharded',
    ),
  ];
}

/** What no server of the cluster leads: it is there, and cannot be used or looked at. */
export function leaderlessFindings(kind: 'session' | 'shard', names: readonly string[]): Finding[] {
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
