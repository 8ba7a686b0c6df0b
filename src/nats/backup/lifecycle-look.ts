import type { JetStreamManager, NatsConnection } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import { type LifecycleRecord, lifecycleRecord } from '../../contracts/lifecycle-record.js';
import { sessionOfArchivedKey, type Token } from '../../contracts/names.js';
import { pause } from '../../engine/runtime/batched.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { readStream, type StreamMessage } from '../jetstream/direct-get.js';
import { newestMessage } from '../jetstream/newest-page.js';
import { keyOf, LIFECYCLE_PREFIX, LIFECYCLE_STREAM } from '../stores/kv-bucket.js';
import { isDeletion } from '../stores/nats-snapshot-store.js';

/** All lifecycle records at one moment, and the highest sequence. */
export interface LifecycleLook {
  readonly records: ReadonlyMap<string, SeenRecord>;
  readonly newest: number;
}

interface SeenRecord {
  readonly sequence: number;
  /** `undefined` for a deleted key or a key that is not about a session. */
  readonly record: LifecycleRecord | undefined;
}

/** Changes of sessions between two looks. */
export interface LifecycleChanges {
  /** Sessions whose events may have been added, removed or replaced. */
  readonly sessions: readonly Token[];
  /** True if each of these was only archived or reopened. */
  readonly isArchiving: boolean;
  readonly forgetting: readonly Token[];
  /** True if a session was forgotten completely: no record names it any more. */
  readonly isForgotten: boolean;
}

/** Poll interval for a lagging replica. */
const LAG_PAUSE_MS = 20;

/**
 * Returns all records, at least as new as the leader's at the start.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`
 */
export async function lookAtLifecycle(
  connection: NatsConnection,
  jsm: JetStreamManager,
  timeoutMs: number,
): Promise<LifecycleLook> {
  try {
    const { seq: wanted } = (await newestMessage(jsm, LIFECYCLE_STREAM, `${LIFECYCLE_PREFIX}>`)) ?? {};
    if (wanted === undefined) return { records: new Map(), newest: 0 };
    for (const until = performance.now() + timeoutMs; ; ) {
      const messages = await allRecords(connection, timeoutMs);
      const newest = messages.at(-1)?.sequence ?? 0;
      if (newest >= wanted)
        return { records: new Map(messages.map((each) => [keyOf(each), seen(each)])), newest };
      if (performance.now() > until)
        throw new ThroughlineError('unavailable', `the replicas of ${LIFECYCLE_STREAM} lag behind`);
      await pause(LAG_PAUSE_MS);
    }
  } catch (error) {
    throw toThroughlineError(error, 'reading lifecycle records');
  }
}

/** Reads until the end: a concurrent rewrite of the bucket moves records there. */
async function allRecords(connection: NatsConnection, timeoutMs: number): Promise<StreamMessage[]> {
  const all: StreamMessage[] = [];
  for (;;) {
    const from = (all.at(-1)?.sequence ?? 0) + 1;
    const more = await readStream(connection, LIFECYCLE_STREAM, '>', { from }, timeoutMs);
    if (more.length === 0) return all;
    for (const each of more) all.push(each);
  }
}

function seen(message: StreamMessage): SeenRecord {
  const { sequence, data, foreign } = message;
  const isRecord = foreign === undefined && !isDeletion(message);
  return { sequence, record: isRecord ? lifecycleRecord(keyOf(message), jsonOf(data)) : undefined };
}

/** Compares two looks. Ignores lease holders and progress, which do not affect copies of events. */
export function lifecycleChanges(before: LifecycleLook, now: LifecycleLook): LifecycleChanges {
  const sessions = new Set<Token>();
  const forgetting: Token[] = [];
  let [isArchiving, isForgotten] = [true, false];
  for (const key of new Set([...before.records.keys(), ...now.records.keys()])) {
    const [was, is] = [before.records.get(key), now.records.get(key)];
    // A record added and removed in between leaves a newer deletion marker, or nothing if it was forgotten.
    const isMarked = is !== undefined && is.record === undefined && is.sequence > before.newest;
    if (standing(was?.record) === standing(is?.record) && !isMarked) continue;
    const session = sessionOfArchivedKey(key);
    if (session !== undefined) {
      const both = [was?.record, is?.record];
      sessions.add(session);
      isArchiving &&= both.some((each) => each !== undefined) && both.every(isOwn);
    } else if (is?.record?.kind === 'forgotten') {
      const { status, session: named } = is.record.record;
      if (status === 'forgotten') isForgotten = true;
      else if (named !== undefined) forgetting.push(named);
    }
  }
  return { sessions: [...sessions], isArchiving, forgetting, isForgotten };
}

function standing(found: LifecycleRecord | undefined): string {
  if (found === undefined) return '';
  if (found.kind === 'forgotten') {
    const { status, at } = found.record;
    return status === 'forgotten' ? at : status;
  }
  return JSON.stringify(found.record);
}

/** Returns true if there is no record, or one of an archived session. */
function isOwn(found: LifecycleRecord | undefined): boolean {
  if (found?.kind !== 'archived') return found === undefined;
  return found.record.importing === undefined;
}
