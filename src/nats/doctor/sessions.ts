import type { JetStreamManager, StreamInfo } from 'nats';
import { sessionOfStream, sessionStream, sessionSubjects, type Token } from '../../contracts/names.js';
import type { SnapshotStore } from '../../ports/snapshot-store.js';
import { toThroughlineError } from '../errors.js';
import { type Finding, ok, warn } from './finding.js';
import { streamFaults } from './streams.js';

/** Sessions whose snapshots are read: each is one request. The longest tails first. */
const MAX_READ = 500;
const AT_A_TIME = 16;
const SHOWN = 10;
/** Snapshots that should have been written since: with fewer, the next event or request writes one. */
const MANY_MISSED = 5;

export interface SessionsExamined {
  readonly jsm: JetStreamManager;
  readonly snapshots: Pick<SnapshotStore, 'load'>;
  readonly replicas: number;
  /** Events after which a snapshot is written. */
  readonly snapshotEvery: number;
}

interface Tail {
  readonly session: Token;
  readonly events: number;
  readonly from: number;
}

/** The streams of sessions, and the snapshots that are far behind them. */
export async function sessionFindings(examined: SessionsExamined): Promise<Finding[]> {
  const { jsm, replicas, snapshotEvery } = examined;
  const streams = await sessionStreams(jsm);
  const faults = streams.flatMap(({ session, info }) =>
    streamFaults(info, { name: sessionStream(session), subjects: sessionSubjects(session), replicas }),
  );
  const long = streams
    .filter(({ info }) => info.state.messages >= snapshotEvery * MANY_MISSED)
    .sort((one, other) => other.info.state.messages - one.info.state.messages)
    .slice(0, MAX_READ);
  const behind = (await tails(examined, long)).filter(({ events }) => events >= snapshotEvery * MANY_MISSED);
  const found = [...faults, ...behind.sort((one, other) => other.events - one.events).map(tailFinding)];
  const more = found.length > SHOWN ? [hidden(found.length - SHOWN)] : [];
  const sum = `${streams.length} sessions, ${behind.length} with a snapshot far behind`;
  return [...found.slice(0, SHOWN), ...more, ...(found.length === 0 ? [ok('sessions', sum)] : [])];
}

async function sessionStreams(jsm: JetStreamManager): Promise<{ session: Token; info: StreamInfo }[]> {
  const found: { session: Token; info: StreamInfo }[] = [];
  try {
    for await (const info of jsm.streams.list('session.>')) {
      const session = sessionOfStream(info.config.name);
      if (session !== undefined) found.push({ session, info });
    }
  } catch (error) {
    throw toThroughlineError(error, 'listing sessions');
  }
  return found;
}

async function tails(
  { snapshots }: SessionsExamined,
  streams: readonly { session: Token; info: StreamInfo }[],
): Promise<Tail[]> {
  const found: Tail[] = [];
  for (let at = 0; at < streams.length; at += AT_A_TIME) {
    const read = streams.slice(at, at + AT_A_TIME).map(async ({ session, info }) => {
      const from = (await snapshots.load(session))?.sequence ?? 0;
      return { session, from, events: info.state.last_seq - Math.max(from, info.state.first_seq - 1) };
    });
    found.push(...(await Promise.all(read)));
  }
  return found;
}

function tailFinding({ session, events, from }: Tail): Finding {
  const since = from === 0 ? 'and it has no snapshot' : `since its snapshot at ${from}`;
  const message = `${events} events ${since}: loading it replays them`;
  return warn(`session ${session}`, message, `throughline snapshot write --session ${session}`);
}

function hidden(count: number): Finding {
  return warn('sessions', `${count} further findings`, 'mend these first, and look again');
}
