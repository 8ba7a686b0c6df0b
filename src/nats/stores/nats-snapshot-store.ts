import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { headers, type KV, type NatsConnection, StorageType } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { ReplacingSnapshotStore, SaveOutcome, StoredSnapshot } from '../../engine/ports/session-log.js';
import { API, apiCode, ifExists, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { readLast, readStream, type StreamMessage } from '../jetstream/direct-get.js';
import { snapshotSequence, type TopologyOptions } from '../jetstream/topology.js';

/** Size of subject and headers in a message of the largest size. */
const ENVELOPE_BYTES = 4096;
const HISTORY = 5;
/** Cached last writes. */
const MAX_WRITTEN = 10_000;
/** Attempts of compare-and-set; one writer succeeds in each round, and there are fewer writers per key. */
const MAX_ATTEMPTS = 1000;

interface SnapshotStoreOptions extends TopologyOptions {
  readonly timeoutMs: number;
  /** Snapshots up to this sequence are ignored: see `minRetainedSequence`. Default: none. */
  readonly floor?: (key: Token) => number;
  /** Begins each key of the store in the bucket. Default: none. */
  readonly prefix?: string;
  /** See `SessionLifecycle.refreshed`. */
  readonly refreshed?: () => Promise<void> | undefined;
}

/** Opens a bucket of snapshots, and creates it unless it is only read. */
export async function openSnapshotStore(
  connection: NatsConnection,
  bucket: string,
  description: string,
  options: SnapshotStoreOptions,
  make = true,
): Promise<NatsSnapshotStore> {
  const { replicas, timeoutMs, floor = () => 0, refreshed = () => undefined, prefix = '' } = options;
  const open = () =>
    // `checkAPI` would request the account's limits, which needs another permission.
    connection.jetstream({ checkAPI: false, timeout: timeoutMs }).views.kv(bucket, {
      ...(!make && { bindOnly: true, allow_direct: true }),
      history: HISTORY,
      storage: StorageType.File,
      replicas,
      description,
    });
  return new NatsSnapshotStore(
    await open(),
    { name: bucket, make, open, timeoutMs, floor, refreshed, prefix },
    connection,
  );
}

interface Bucket extends Required<Omit<SnapshotStoreOptions, 'replicas'>> {
  readonly name: string;
  /** Create it if it is missing. */
  readonly make: boolean;
  readonly open: () => Promise<KV>;
}

/** The revision of a key's last message, and its newest snapshot. */
interface Kept {
  readonly revision: number;
  readonly snapshot: StoredSnapshot | undefined;
}

export class NatsSnapshotStore implements ReplacingSnapshotStore {
  #kv: KV;
  readonly #bucket: Bucket;
  readonly #connection: NatsConnection;
  /** Own last writes: while nobody else writes, the stored value need not be read first. */
  readonly #written = new LRUCache<Token, { readonly sequence: number; readonly revision: number }>({
    max: MAX_WRITTEN,
  });

  constructor(kv: KV, bucket: Bucket, connection: NatsConnection) {
    this.#kv = kv;
    this.#bucket = bucket;
    this.#connection = connection;
  }

  async load(key: Token): Promise<StoredSnapshot | undefined> {
    const kept = await this.#reading(key, () => this.#kept(key));
    if (kept?.snapshot === undefined || kept.snapshot.sequence <= this.#bucket.floor(key)) return undefined;
    return unpacked(kept.snapshot);
  }

  async loadAtOrBefore(key: Token, sequence: number): Promise<StoredSnapshot | undefined> {
    const newest = await this.load(key);
    if (newest === undefined || newest.sequence <= sequence) return newest;
    const older = await this.#reading(key, () => this.#history(key));
    const floor = this.#bucket.floor(key);
    const best = older?.findLast((snapshot) => snapshot.sequence <= sequence && snapshot.sequence > floor);
    return best && unpacked(best);
  }

  async save(key: Token, snapshot: StoredSnapshot): Promise<SaveOutcome> {
    const text = await packedText(snapshot.sequence, snapshot.text, this.#limit());
    await this.#bucket.refreshed();
    // A late write for a forgotten session.
    if (snapshot.sequence <= this.#bucket.floor(key)) return 'older';
    if (text === undefined) return 'too_large';
    const packed = { sequence: snapshot.sequence, text };
    try {
      const last = this.#written.get(key);
      // If our revision is still the last one, the value is ours.
      const follows = last !== undefined && last.sequence < snapshot.sequence;
      if (follows && (await this.#replace(key, packed, last.revision))) return 'saved';
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const kept = await this.#kept(key);
        if (kept?.snapshot !== undefined && kept.snapshot.sequence >= snapshot.sequence) return 'older';
        if (await this.#replace(key, packed, kept?.revision)) return 'saved';
      }
    } catch (error) {
      throw toThroughlineError(error, `writing the snapshot of ${key}`);
    }
    throw new ThroughlineError('conflict', `others keep writing the snapshot of ${key}`);
  }

  async replace(key: Token, snapshot: StoredSnapshot): Promise<'saved' | 'too_large'> {
    const text = await packedText(snapshot.sequence, snapshot.text, this.#limit());
    if (text === undefined) return 'too_large';
    const head = headers();
    // Replaces everything under the key atomically.
    head.set('Nats-Rollup', 'sub');
    try {
      this.#written.delete(key);
      const js = this.#connection.jetstream({ checkAPI: false, timeout: this.#bucket.timeoutMs });
      await this.#onBucket(() => js.publish(this.#subject(key), text, { headers: head }));
      return 'saved';
    } catch (error) {
      throw toThroughlineError(error, `replacing the snapshot of ${key}`);
    }
  }

  #limit(): number {
    return (this.#connection.info?.max_payload ?? 1024 * 1024) - ENVELOPE_BYTES;
  }

  /** Compare-and-set: `false` after a lost race. */
  async #replace(key: Token, snapshot: StoredSnapshot, revision: number | undefined): Promise<boolean> {
    const { sequence, text } = snapshot;
    this.#written.delete(key);
    try {
      const written =
        revision === undefined
          ? await this.#onBucket((kv) => kv.create(this.#bucket.prefix + key, text))
          : await this.#onBucket((kv) => kv.update(this.#bucket.prefix + key, text, revision));
      this.#written.set(key, { sequence, revision: written });
      return true;
    } catch (error) {
      if (apiCode(error) === API.wrongLastSequence) return false;
      throw error;
    }
  }

  /** Creates a deleted bucket again. */
  async #onBucket<T>(work: (kv: KV) => Promise<T>): Promise<T> {
    try {
      return await work(this.#kv);
    } catch (error) {
      if (!isNoResponders(error) && apiCode(error) !== API.streamNotFound) throw error;
      if (!this.#bucket.make || (await ifExists(this.#kv.status())) !== undefined) throw error;
      this.#written.clear();
      this.#kv = await this.#bucket.open();
      return work(this.#kv);
    }
  }

  /** Returns a key's last revision and newest snapshot; the last message need not be a snapshot. */
  async #kept(key: Token): Promise<Kept | undefined> {
    const last = await this.#last(key);
    if (last === undefined) return undefined;
    const { sequence: revision } = last;
    if (isDeletion(last)) return { revision, snapshot: undefined };
    return { revision, snapshot: snapshotIn(last) ?? (await this.#history(key)).at(-1) };
  }

  /** Returns the newest message of a key with one request, which needs permission for this key only. */
  #last(key: Token): Promise<StreamMessage | undefined> {
    const { name, timeoutMs } = this.#bucket;
    return this.#onBucket(() => readLast(this.#connection, `KV_${name}`, this.#subject(key), timeoutMs));
  }

  /** Returns the snapshots of a key, oldest first. The client's history would create a consumer, which readers may not. */
  async #history(key: Token): Promise<StoredSnapshot[]> {
    const { name, timeoutMs } = this.#bucket;
    const subject = this.#subject(key);
    try {
      const kept = await readStream(this.#connection, `KV_${name}`, subject, { from: 1 }, timeoutMs);
      return kept
        .slice(kept.findLastIndex(isDeletion) + 1)
        .flatMap((message) => snapshotIn(message) ?? [])
        .sort((one, other) => one.sequence - other.sequence);
    } catch (error) {
      // A user who may read only the newest value does without older snapshots.
      if (error instanceof ThroughlineError && error.code === 'permission_denied') return [];
      throw error;
    }
  }

  #subject(key: Token): string {
    return `$KV.${this.#bucket.name}.${this.#bucket.prefix}${key}`;
  }

  async #reading<T>(key: Token, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      // There is no bucket, and a reader does not create one.
      if (isNoResponders(error)) return undefined;
      throw toThroughlineError(error, `reading the snapshot of ${key}`);
    }
  }
}

/** Returns true for a marker that deletes everything before it under its key. */
export function isDeletion({ headers, foreign }: Pick<StreamMessage, 'headers' | 'foreign'>): boolean {
  return foreign === undefined && headers?.has('KV-Operation') === true;
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

/**
 * A snapshot that does not fit one message is compressed: `{"after_sequence":N,"gzip":"…"}` in base64. Smaller ones stay readable
 * with the plain `nats` CLI.
 */
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
