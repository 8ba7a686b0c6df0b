import { createHash, randomUUID } from 'node:crypto';
import type { StreamInfo } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  DISPATCH_STREAM,
  HEADERS,
  LEARNINGS_STREAM,
  sessionOfStream,
  sessionSubject,
  shardIntake,
  shardOfStream,
  token,
  VOID_DISPATCHES,
} from '../../contracts/names.js';
import { isShardCount } from '../../contracts/session-layout.js';
import type { AckedPublisher } from './acked-publisher.js';
import { readStream, type StreamMessage } from './direct-get.js';
import { publishedUnder } from './dispatch-delivery.js';
import { highestSeen, type NumbersPorts, numbersFault } from './dispatch-numbers.js';
import { type ListedStreams, listedStreams } from './list-streams.js';
import { newestLearningSnapshot, newestShardSnapshot, newestSnapshot, SHARDS } from './topology.js';

/**
 * Repairs what a restore of single streams leaves behind: streams that are behind the numbers others have seen. Their
 * numbers are moved up, by messages that say nothing and are removed again; what they hold stays as it is.
 */

const VOID_EVENTS = 'void';
const VOID = { [HEADERS.void]: '1' };
const VOID_LEARNINGS = 'learning.void.void';
/** Numbers above the highest that is known to have been seen: someone may have seen a few more. */
const MARGIN = 1200;
const AT_ONCE = 500;

export interface RepairPorts extends NumbersPorts {
  readonly publisher: Pick<AckedPublisher, 'publish'>;
}

export interface RepairedStreams {
  /** The repairs, a line for each stream. */
  readonly repaired: readonly string[];
  /** What could not be looked at, and why, a line for each stream. */
  readonly leftOut: readonly string[];
}

export async function repairStreams(ports: RepairPorts): Promise<RepairedStreams> {
  const dispatches = await repairDispatches(ports);
  const sessions = await listedStreams(ports.jsm, ALL_SESSIONS);
  const shards = await listedStreams(ports.jsm, ALL_SHARDS);
  const leaderless = [
    ...sessions.leaderless.filter((name) => sessionOfStream(name) !== undefined),
    ...shards.leaderless.filter((name) => shardOfStream(name) !== undefined),
  ];
  return {
    repaired: [
      ...dispatches,
      ...(await repairSessions(ports, sessions)),
      ...(await repairShards(ports, shards)),
      ...(await repairLearnings(ports)),
    ],
    leftOut: leaderless.sort().map((name) => `${name} has no leader`),
  };
}

async function repairDispatches(ports: RepairPorts): Promise<string[]> {
  const { connection, jsm, timeoutMs } = ports;
  const fault = await numbersFault(ports, await highestSeen(ports));
  if (fault === undefined) return [];
  const { seen, last } = fault;
  await raise(ports, DISPATCH_STREAM, VOID_DISPATCHES, seen.sequence + MARGIN);
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

/** Resolves when a copy of the message is stored: only then may the message go. */
async function publishAgain(ports: RepairPorts, message: StreamMessage): Promise<void> {
  const { subject, data } = message;
  // It may have counted before the restore, or be published again: its result is known by the id that it had.
  const id = publishedUnder(message.headers);
  const options = {
    stream: DISPATCH_STREAM,
    ...(id !== undefined && { headers: { [HEADERS.messageId]: id } }),
  };
  // Cut off before the message is deleted, the next repair finds it again: so soon, the id of its copy is still known.
  for (const messageId of [copyId(message), randomUUID()]) {
    const published = await ports.publisher.publish(subject, data, { ...options, messageId });
    if (published.outcome !== 'stored') break;
    // Anybody who may publish can have taken the id for something else.
    if (!published.duplicate || (await isCopy(ports, message, published.sequence))) return;
  }
  throw new ThroughlineError('unavailable', `no stream takes ${subject}`);
}

/** The same with each repair, and not known to any client before the message is stored. */
function copyId({ sequence, subject, data, headers }: StreamMessage): string {
  // The time that the server gives comes last.
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

async function repairSessions(ports: RepairPorts, { found }: ListedStreams): Promise<string[]> {
  const mended: string[] = [];
  for (const info of found) {
    const { name } = info.config;
    const session = sessionOfStream(name);
    if (session === undefined) continue;
    const snapshot = await newestSnapshot(ports.jsm, session);
    const last = await lastIfBehind(ports, info, snapshot);
    if (last === undefined) continue;
    await raise(ports, name, sessionSubject(session, VOID_EVENTS), snapshot + MARGIN);
    mended.push(movedUp(name, last, snapshot));
  }
  return mended;
}

async function repairShards(ports: RepairPorts, { found }: ListedStreams): Promise<string[]> {
  const mended: string[] = [];
  const nobody = token(VOID_EVENTS, 'session');
  for (const info of found) {
    const { name, metadata } = info.config;
    const shard = shardOfStream(name);
    const shards = Number(metadata?.[SHARDS]);
    if (shard === undefined || !isShardCount(shards)) continue;
    const snapshot = await newestShardSnapshot(ports.jsm, { shard, shards });
    const last = await lastIfBehind(ports, info, snapshot);
    if (last === undefined) continue;
    const [intake, stored] = [shardIntake(shard, nobody, VOID_EVENTS), sessionSubject(nobody, VOID_EVENTS)];
    await raise(ports, name, intake, snapshot + MARGIN, stored);
    mended.push(movedUp(name, last, snapshot));
  }
  return mended;
}

/** The last sequence of a stream that is behind a snapshot. It may have moved on since it was listed. */
async function lastIfBehind(
  { jsm }: RepairPorts,
  { config, state }: StreamInfo,
  snapshot: number,
): Promise<number | undefined> {
  if (state.last_seq >= snapshot) return undefined;
  const { last_seq: last } = (await jsm.streams.info(config.name)).state;
  return last < snapshot ? last : undefined;
}

async function repairLearnings(ports: RepairPorts): Promise<string[]> {
  const snapshot = await newestLearningSnapshot(ports.jsm);
  if (snapshot === 0) return [];
  const { last_seq: last } = (await ports.jsm.streams.info(LEARNINGS_STREAM)).state;
  if (last >= snapshot) return [];
  await raise(ports, LEARNINGS_STREAM, VOID_LEARNINGS, snapshot + MARGIN);
  return [movedUp(LEARNINGS_STREAM, last, snapshot)];
}

function movedUp(stream: string, last: number, snapshot: number): string {
  return `${stream}: numbers moved up from ${last} to beyond ${snapshot}; the events between are lost, the snapshot says what they came to`;
}

/** Stores messages that say nothing until the stream's numbers have come so far. */
async function raise(
  ports: RepairPorts,
  stream: string,
  subject: string,
  to: number,
  storedUnder = subject,
): Promise<void> {
  await raiseWithin(ports, { stream, subject, to, storedUnder }, Number.POSITIVE_INFINITY);
}

/** The same for so many milliseconds at most. Gives how far the numbers are then. */
export async function raiseWithin(
  { jsm, publisher }: Pick<RepairPorts, 'jsm' | 'publisher'>,
  { stream, subject, to, storedUnder }: Record<'stream' | 'subject' | 'storedUnder', string> & { to: number },
  mostMs: number,
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
    if (last === 0) throw new ThroughlineError('unavailable', `stream ${stream} takes no ${subject}`);
    await jsm.streams.purge(stream, { filter: storedUnder });
  }
  return last;
}
