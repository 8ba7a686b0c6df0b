import type { JetStreamManager } from 'nats';
import type { Token } from '../../contracts/names.js';
import type { SnapshotStore } from '../../engine/ports/session-log.js';
import { age, counted } from '../../shared/text.js';
import { ifExists } from '../connection/nats-errors.js';
import { REPAIR } from '../jetstream/dispatch-numbers.js';
import { snapshotTime } from '../stores/snapshot-sequence.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** Snapshots that are read, of the longest logs: each costs one or two requests. */
const MAX_READ = 500;
const AT_A_TIME = 16;
const SHOWN = 10;
/** Missed snapshots that are reported; with fewer, the next event or request writes one. */
const MANY_MISSED = 5;

export interface ExaminedLog {
  readonly key: Token;
  readonly events: number;
  readonly stream: string;
  /** Last sequence of its stream when it was listed. */
  readonly last: number;
  readonly eventsAfter: (sequence: number) => Promise<number>;
}

interface TailsExamined {
  readonly jsm: JetStreamManager;
  readonly kind: 'session' | 'project';
  readonly logs: readonly ExaminedLog[];
  readonly snapshots: Pick<SnapshotStore, 'load'>;
  readonly snapshotEvery: number;
  readonly now: number;
  /** Returns the command that writes a snapshot. */
  readonly writes: (key: Token) => string;
  readonly faults: readonly Finding[];
}

interface Tail {
  readonly key: Token;
  /** Number of events since the snapshot. */
  readonly events: number;
  readonly from: number;
  readonly last: number;
  readonly createdAt: string | undefined;
}

/** Finds logs whose snapshots are far behind, and reports the oldest snapshot that is behind at all. */
export async function tailFindings(examined: TailsExamined): Promise<Finding[]> {
  const { kind, logs, snapshotEvery, faults } = examined;
  const tails = await tailsOf(examined);
  const behind = tails.filter(({ events }) => events > 0);
  const far = behind
    .filter(({ events }) => events >= snapshotEvery * MANY_MISSED)
    .sort((one, other) => other.events - one.events);
  const restored = tails.filter(({ from, last }) => last < from);
  const found = [
    ...faults,
    ...restored.map((tail) => gone(tail, kind)),
    ...far.map((tail) => farBehind(tail, examined)),
  ];
  if (found.length === 0) {
    const sum = `${counted(logs.length, kind)}, none with a snapshot far behind`;
    return [ok(`${kind}s`, `${sum}${oldest(behind, examined)}`)];
  }
  const hidden = found.length - SHOWN;
  return [
    ...found.slice(0, SHOWN),
    ...(hidden > 0
      ? [warn(`${kind}s`, counted(hidden, 'further finding'), 'fix these first, then check again')]
      : []),
  ];
}

async function tailsOf({ jsm, logs, snapshots }: TailsExamined): Promise<Tail[]> {
  const longest = logs
    .filter(({ events }) => events > 0)
    .sort((one, other) => other.events - one.events)
    .slice(0, MAX_READ);
  const found: Tail[] = [];
  for (let at = 0; at < longest.length; at += AT_A_TIME) {
    const read = longest.slice(at, at + AT_A_TIME).map(async ({ key, stream, last, eventsAfter }) => {
      const snapshot = await snapshots.load(key);
      const from = snapshot?.sequence ?? 0;
      return {
        key,
        from,
        // The snapshot may be newer than the list.
        last: last < from ? await lastOf(jsm, stream) : last,
        events: await eventsAfter(from),
        createdAt: snapshot && snapshotTime(snapshot.text),
      };
    });
    found.push(...(await Promise.all(read)));
  }
  return found;
}

/** Returns the current last sequence of a stream; infinite if it is gone. */
async function lastOf(jsm: JetStreamManager, stream: string): Promise<number> {
  const info = await ifExists(jsm.streams.info(stream), `looking at stream ${stream}`);
  return info?.state.last_seq ?? Number.POSITIVE_INFINITY;
}

function gone({ key, last, from }: Tail, kind: TailsExamined['kind']): Finding {
  const message = `its stream is at ${last} and its snapshot at ${from}: it was restored from an earlier backup, and new events would not count`;
  return fail(`${kind} ${key}`, message, REPAIR);
}

function farBehind({ key, events, from, createdAt }: Tail, { kind, now, writes }: TailsExamined): Finding {
  const written = createdAt === undefined ? '' : `, written ${ago(createdAt, now)}`;
  const since = from === 0 ? 'and it has no snapshot' : `since its snapshot at ${from}${written}`;
  const message = `${counted(events, 'event')} ${since}: loading it replays them`;
  return warn(`${kind} ${key}`, message, writes(key));
}

function oldest(behind: readonly Tail[], { kind, now }: TailsExamined): string {
  const dated = behind.flatMap(({ createdAt, ...tail }) => (createdAt ? [{ ...tail, createdAt }] : []));
  const [first] = dated.sort((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
  if (first === undefined) return '';
  const { key, createdAt, events } = first;
  return `; the oldest that is behind, by ${counted(events, 'event')}, was written ${ago(createdAt, now)} (${kind} ${key})`;
}

function ago(then: string, now: number): string {
  return age(then, new Date(now).toISOString());
}
