import { createHash, randomUUID } from 'node:crypto';
import type { JetStreamManager, StreamInfo } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  DISPATCH_STREAM,
  HEADERS,
  isShardCount,
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  sessionOfStream,
  sessionSubject,
  shardIntake,
  shardOfStream,
  token,
  VOID_DISPATCHES,
} from '../../contracts/names.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import type { KvBucket } from '../stores/kv-bucket.js';
import type { AckedPublisher } from './acked-publisher.js';
import { readStream, type StreamMessage } from './direct-get.js';
import { publishedUnder } from './dispatch-delivery.js';
import { highestSeen, type NumbersPorts, numbersFault, RAISED_KEY, raisedIn } from './dispatch-numbers.js';
import { type ListedStreams, listedStreams } from './list-streams.js';
import { newestLearningSnapshot, newestShardSnapshot, newestSnapshot, SHARDS } from './topology.js';

const VOID_EVENTS = 'void';
const VOID = { [HEADERS.void]: '1' };
const VOID_LEARNINGS = 'learning.void.void';
const NOBODY = token(VOID_EVENTS, 'session');
/** Gap above the highest known number: others may have seen a few more. */
const MARGIN = 1200;
const AT_ONCE = 500;

export interface RepairPorts extends NumbersPorts {
  readonly publisher: Pick<AckedPublisher, 'publish'>;
}

interface Raised {
  readonly stream: string;
  /** Subject to publish empty messages to. */
  readonly subject: string;
  /** Subject under which the stream stores them. Default: the same. */
  readonly storedUnder?: string;
  readonly to: number;
}

export interface RepairedStreams {
  readonly repaired: readonly string[];
  /** Streams that could not be checked, with the reason. */
  readonly leftOut: readonly string[];
}

export async function repairStreams(ports: RepairPorts): Promise<RepairedStreams> {
  const dispatches = await repairDispatches(ports);
  const repaired = [...dispatches];
  const leaderless: string[] = [];
  for (const subjects of [ALL_SESSIONS, ALL_SHARDS, LEARNINGS_SUBJECTS]) {
    const listed = await listedStreams(ports.jsm, subjects);
    repaired.push(...(await repairLogs(ports, listed)));
    leaderless.push(...listed.leaderless.filter(isLog));
  }
  return { repaired, leftOut: leaderless.sort().map((name) => `${name} has no leader`) };
}

function isLog(stream: string): boolean {
  return (
    stream === LEARNINGS_STREAM ||
    sessionOfStream(stream) !== undefined ||
    shardOfStream(stream) !== undefined
  );
}

async function repairDispatches(ports: RepairPorts): Promise<string[]> {
  const { connection, jsm, timeoutMs } = ports;
  const fault = await numbersFault(ports, await highestSeen(ports));
  if (fault === undefined) return [];
  const { seen, last } = fault;
  const to = seen.sequence + MARGIN;
  await raiseWithin(ports, { stream: DISPATCH_STREAM, subject: VOID_DISPATCHES, to });
  const range = { since: seen.at, through: seen.sequence };
  let again = 0;
  for (const message of await readStream(connection, DISPATCH_STREAM, '>', range, timeoutMs)) {
    if (message.subject === VOID_DISPATCHES || message.foreign !== undefined) continue;
    await publishAgain(ports, message);
    await jsm.streams.deleteMessage(DISPATCH_STREAM, message.sequence, false);
    again += 1;
  }
  await jsm.streams.purge(DISPATCH_STREAM, { filter: VOID_DISPATCHES });
  const moved = `numbers moved up from ${last} to beyond ${seen.sequence}`;
  return [
    `${DISPATCH_STREAM}: ${moved}; results under numbers that were used before, published again: ${again}`,
  ];
}

/** Resolves when a copy of the message is stored, so that the original may be deleted. */
async function publishAgain(ports: RepairPorts, message: StreamMessage): Promise<void> {
  const { subject, data } = message;
  // It may have counted before the restore, or be published again: its result is identified by this key.
  const id = publishedUnder(message.headers);
  const options = {
    stream: DISPATCH_STREAM,
    ...(id !== undefined && { headers: { [HEADERS.messageId]: id } }),
  };
  // If interrupted before the deletion, the next repair repeats this while the server still knows the copy's id.
  for (const messageId of [copyId(message), randomUUID()]) {
    const published = await ports.publisher.publish(subject, data, { ...options, messageId });
    if (published.outcome !== 'stored') break;
    // Any publisher may have used the id for something else.
    if (!published.duplicate || (await isCopy(ports, message, published.sequence))) return;
  }
  throw new ThroughlineError('unavailable', `no stream takes ${subject}`);
}

/** Returns a stable id that no client knows before the message is stored. */
function copyId({ sequence, subject, data, headers }: StreamMessage): string {
  // The server's own time stamp comes last.
  const head = JSON.stringify([sequence, subject, headers?.last('Nats-Time-Stamp')]);
  return `repaired:${createHash('sha256').update(head).update(data).digest('hex')}`;
}

async function isCopy(
  { connection, timeoutMs }: RepairPorts,
  { sequence, subject, data }: StreamMessage,
  at: number,
): Promise<boolean> {
  const range = { from: at, through: at };
  const [stored] = await readStream(connection, DISPATCH_STREAM, '>', range, timeoutMs);
  if (stored === undefined || stored.sequence === sequence || stored.foreign !== undefined) return false;
  return stored.subject === subject && Buffer.compare(stored.data, data) === 0;
}

async function repairLogs(ports: RepairPorts, { found }: ListedStreams): Promise<string[]> {
  const mended: string[] = [];
  for (const { config, state } of found) {
    const { name } = config;
    const log = logOf(ports.jsm, config);
    const snapshot = (await log?.snapshot) ?? 0;
    if (log === undefined || state.last_seq >= snapshot) continue;
    // It may have advanced since it was listed.
    const { last_seq: last } = (await ports.jsm.streams.info(name)).state;
    if (last >= snapshot) continue;
    await raiseWithin(ports, { ...log, stream: name, to: snapshot + MARGIN });
    mended.push(
      `${name}: numbers moved up from ${last} to beyond ${snapshot}; the events between are lost, the snapshot says what they came to`,
    );
  }
  return mended;
}

/** Returns the newest snapshot of a log stream, and the subject of an empty event; `undefined` for other streams. */
function logOf(jsm: JetStreamManager, { name, metadata }: StreamInfo['config']) {
  const session = sessionOfStream(name);
  if (session !== undefined)
    return { snapshot: newestSnapshot(jsm, session), subject: sessionSubject(session, VOID_EVENTS) };
  if (name === LEARNINGS_STREAM) return { snapshot: newestLearningSnapshot(jsm), subject: VOID_LEARNINGS };
  const shard = shardOfStream(name);
  const shards = Number(metadata?.[SHARDS]);
  if (shard === undefined || !isShardCount(shards)) return undefined;
  return {
    snapshot: newestShardSnapshot(jsm, { shard, shards }),
    subject: shardIntake(shard, NOBODY, VOID_EVENTS),
    storedUnder: sessionSubject(NOBODY, VOID_EVENTS),
  };
}

/** Stores and purges empty messages until a stream reaches `to` or the time is up; returns its last sequence. */
export async function raiseWithin(
  { jsm, publisher }: Pick<RepairPorts, 'jsm' | 'publisher'>,
  { stream, subject, storedUnder = subject, to }: Raised,
  mostMs = Number.POSITIVE_INFINITY,
): Promise<number> {
  const nothing = new Uint8Array();
  const began = performance.now();
  let { last_seq: last } = (await jsm.streams.info(stream)).state;
  while (last < to && performance.now() - began < mostMs) {
    const count = Math.min(AT_ONCE, to - last);
    const stored = await Promise.all(
      Array.from({ length: count }, () => publisher.publish(subject, nothing, { headers: VOID })),
    );
    last = Math.max(...stored.map((each) => (each.outcome === 'stored' ? each.sequence : 0)));
    if (last === 0) throw new ThroughlineError('unavailable', `stream ${stream} has no subject ${subject}`);
    await jsm.streams.purge(stream, { filter: storedUnder });
  }
  return last;
}

/**
 * Raises the dispatch numbers for at most `mostMs`, and returns the number reached; at `to` it is recorded. Imported sessions
 * refer to dispatches of another server, so numbers up to the record must never be given here.
 */
export async function raiseDispatches(
  ports: RepairPorts & { readonly bucket: KvBucket },
  to: number,
  mostMs: number,
): Promise<number> {
  try {
    const place = { stream: DISPATCH_STREAM, subject: VOID_DISPATCHES, to };
    const last = await raiseWithin(ports, place, mostMs);
    // Without time it is only a question.
    if (last < to || mostMs === 0) return last;
    await ports.bucket.write(RAISED_KEY, (before) => ({
      v: 1,
      dispatches: Math.max(before === undefined ? 0 : raisedIn(before.data), to),
    }));
    return last;
  } catch (error) {
    throw toThroughlineError(error, 'moving numbers of dispatches up');
  }
}
