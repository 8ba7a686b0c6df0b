import type { JetStreamManager } from 'nats';
import {
  DISPATCH_STREAM,
  INDEX_BUCKET,
  INSTALLATION_BUCKET,
  LEARNING_SNAPSHOT_BUCKET,
  LEARNINGS_STREAM,
  PROMPTS_STREAM,
  REJECTED_STREAM,
  SNAPSHOT_BUCKET,
  sessionOfStream,
  shardOfStream,
  TELEMETRY_BUCKET,
  VECTOR_BUCKET,
} from '../../contracts/names.js';
import { LIFECYCLE_STREAM } from '../stores/kv-bucket.js';

export const INSTALLATION_STREAM = `KV_${INSTALLATION_BUCKET}`;

/** What was made from other streams, and is copied before them. */
export const DERIVED = [
  INSTALLATION_STREAM,
  ...[SNAPSHOT_BUCKET, TELEMETRY_BUCKET, INDEX_BUCKET, LEARNING_SNAPSHOT_BUCKET, VECTOR_BUCKET].map(
    (name) => `KV_${name}`,
  ),
  PROMPTS_STREAM,
];

const SINGLE: ReadonlySet<string> = new Set([
  ...DERIVED,
  ...[REJECTED_STREAM, LEARNINGS_STREAM, LIFECYCLE_STREAM, DISPATCH_STREAM],
]);

/** Whether a stream holds the events of sessions, in either layout. */
export function isSessionLog(stream: string): boolean {
  return sessionOfStream(stream) !== undefined || shardOfStream(stream) !== undefined;
}

/** Whether a stream is part of an installation. */
export function isOwnStream(stream: string): boolean {
  return SINGLE.has(stream) || isSessionLog(stream);
}

/** The names for which `isOwnStream` holds, as `grep -E` takes them. */
export const OWN_STREAMS = `^(${[...SINGLE].sort().join('|')}|SESSION_[A-Za-z0-9_-]{1,64}|SESSIONS_[0-9a-f]{2})$`;

/** All streams of the installation on a server. */
export async function ownStreams(jsm: JetStreamManager): Promise<string[]> {
  const names: string[] = [];
  for await (const name of jsm.streams.names()) if (isOwnStream(name)) names.push(name);
  return names.sort();
}
