import type { StreamInfo } from 'nats';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  sessionOfSubject,
  shardOfStream,
  shardSubjects,
  type Token,
} from '../../contracts/names.js';
import type { SessionLog } from '../../ports/session-log.js';
import { counted } from '../../shared/counted.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { listedStreams } from '../jetstream/list-streams.js';
import { SHARDS } from '../jetstream/topology.js';
import { type Finding, fail, ok } from './finding.js';
import { leaderlessFindings, type SessionsExamined, writesSnapshot } from './session-findings.js';
import { streamFaults } from './stream-findings.js';
import { type ExaminedLog, tailFindings } from './tail-findings.js';

export interface ShardsExamined extends SessionsExamined {
  readonly log: Pick<SessionLog, 'read'>;
  readonly shards: number;
}

/** The streams of shards, and the snapshots of sessions that are far behind them. */
export async function shardFindings(examined: ShardsExamined): Promise<Finding[]> {
  const { jsm, log, shards, snapshots, snapshotEvery, now } = examined;
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
      for (const [key, events] of eventsBySession(info)) {
        const eventsAfter = async (after: number) => {
          const tail = await log.read(key, { after });
          return tail.events.length + tail.skipped;
        };
        logs.push({ key, events, stream: config.name, last, eventsAfter });
      }
    }
  } catch (error) {
    throw toThroughlineError(error, 'listing sessions');
  }
  const all = made >= shards ? '' : ': the first session of each makes it';
  return [
    ok('layout', `${made} of ${counted(shards, 'shard')} made${all}`),
    ...(await tailFindings({
      ...{ jsm, kind: 'session', logs, snapshots, snapshotEvery, now },
      faults: [...leaderlessFindings('shard', leaderless), ...faults],
      writes: writesSnapshot,
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
