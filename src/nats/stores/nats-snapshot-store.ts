import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { NatsConnection } from 'nats';
import { SNAPSHOT_BUCKET, type Token } from '../../contracts/names.js';
import type { ForgottenSessions } from '../../engine/ports/session-lifecycle.js';
import type { SaveOutcome, SnapshotStore, StoredSnapshot } from '../../engine/ports/session-log.js';
import { maxPayload } from '../connection/connect-nats.js';
import { failedWhile } from '../connection/failed-while.js';
import { readStream, type StreamMessage } from '../jetstream/direct-get.js';
import { snapshotSequence } from '../jetstream/topology.js';
import { type BucketKind, type BucketOptions, isDeletion, KEPT, KvBucket } from './kv-bucket.js';
import { minRetainedSequence, NONE_FORGOTTEN } from './nats-session-lifecycle.js';

const ENVELOPE_BYTES = 4096;
const HISTORY = 5;

const SNAPSHOTS: BucketKind = {
  name: SNAPSHOT_BUCKET,
  reads: 'any',
  config: () => ({
    deny_delete: true,
    max_msgs_per_subject: HISTORY,
    description: 'Folded state of each session and project',
  }),
};

interface SnapshotStoreOptions extends BucketOptions {
  /** Snapshots of forgotten sessions are ignored: see `minRetainedSequence`. Default: none. */
  readonly lifecycle?: ForgottenSessions;
  /** Begins each key of the store in the bucket. Default: none. */
  readonly prefix?: string;
}

/** Snapshots in the bucket `session_snapshots`, JSON on one line: the newest five of each key. */
export function snapshotStore(connection: NatsConnection, options: SnapshotStoreOptions) {
  const { lifecycle = NONE_FORGOTTEN, prefix = '', timeoutMs } = options;
  const bucket = new KvBucket(connection, options, SNAPSHOTS);
  const floor = (key: Token) => minRetainedSequence(lifecycle, key);

  /** Returns the newest snapshot of a key by its last message, which need not be one. */
  async function newestOf(key: Token, last: StreamMessage): Promise<StoredSnapshot | undefined> {
    if (isDeletion(last)) return undefined;
    return snapshotIn(last) ?? (await history(key)).at(-1);
  }

  async function history(key: Token): Promise<StoredSnapshot[]> {
    const subject = `$KV.${SNAPSHOT_BUCKET}.${prefix}${key}`;
    const place = { connection, stream: `KV_${SNAPSHOT_BUCKET}`, timeoutMs };
    const reading = readStream(place, subject, { from: 1 });
    const kept = await reading.catch(failedWhile(`reading the snapshots of ${key}`));
    return kept
      .slice(kept.findLastIndex(isDeletion) + 1)
      .flatMap((message) => snapshotIn(message) ?? [])
      .sort((one, other) => one.sequence - other.sequence);
  }

  const store = {
    /** Creates the bucket, unless it exists. Throws as `load`. */
    ensure: () => bucket.ensure(),

    async load(key: Token): Promise<StoredSnapshot | undefined> {
      const last = await bucket.get(prefix + key);
      const newest = last && (await newestOf(key, last));
      if (newest === undefined || newest.sequence <= floor(key)) return undefined;
      return unpacked(newest);
    },

    async loadAtOrBefore(key: Token, sequence: number): Promise<StoredSnapshot | undefined> {
      const newest = await store.load(key);
      if (newest === undefined || newest.sequence <= sequence) return newest;
      const least = floor(key);
      const older = await history(key);
      const best = older.findLast((snapshot) => snapshot.sequence <= sequence && snapshot.sequence > least);
      return best && unpacked(best);
    },

    async save(key: Token, snapshot: StoredSnapshot): Promise<SaveOutcome> {
      const limit = maxPayload(connection) - ENVELOPE_BYTES;
      const text = await packedText(snapshot.sequence, snapshot.text, limit);
      await lifecycle.refreshed();
      // A late write for a forgotten session.
      if (snapshot.sequence <= floor(key)) return 'older';
      if (text === undefined) return 'too_large';
      const written = await bucket.write(prefix + key, async (last) => {
        const kept = last && (await newestOf(key, last));
        return kept !== undefined && kept.sequence >= snapshot.sequence ? KEPT : text;
      });
      return written === undefined ? 'older' : 'saved';
    },
  };
  return store satisfies SnapshotStore;
}

/** Returns the snapshot in a message; `undefined` for a foreign message or any other text. */
export function snapshotIn({ data, foreign }: StreamMessage): StoredSnapshot | undefined {
  if (foreign !== undefined) return undefined;
  const text = new TextDecoder().decode(data);
  const sequence = snapshotSequence(text);
  return sequence > 0 ? { sequence, text } : undefined;
}

async function unpacked({ sequence, text }: StoredSnapshot): Promise<StoredSnapshot> {
  return { sequence, text: await unpackedText(text) };
}

/** A snapshot too large for one message is `{"after_sequence":N,"gzip":"<base64>"}`; others stay readable by `nats`. */
const [pack, unpack] = [promisify(gzip), promisify(gunzip)];
const PACKED = /^\{"after_sequence":\d+,"gzip":"([A-Za-z0-9+/=]+)"\}$/;
/** Larger than any snapshot that was compressed: guards against decompression bombs. */
const MAX_UNPACKED = 256 * 1024 * 1024;

/** Returns the text to store; `undefined` if it does not fit `limit` bytes even compressed. */
async function packedText(sequence: number, text: string, limit: number): Promise<string | undefined> {
  if (Buffer.byteLength(text) <= limit) return text;
  const packed = `{"after_sequence":${sequence},"gzip":"${(await pack(text)).toString('base64')}"}`;
  return packed.length <= limit ? packed : undefined;
}

/** Decompresses a stored text; returns it unchanged if that fails. */
export async function unpackedText(stored: string): Promise<string> {
  const base64 = PACKED.exec(stored)?.[1];
  if (base64 === undefined) return stored;
  try {
    const options = { maxOutputLength: MAX_UNPACKED };
    return (await unpack(Buffer.from(base64, 'base64'), options)).toString();
  } catch {
    return stored;
  }
}
