import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { headers, type KV, type NatsConnection, StorageType } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type {
  ReplacingSnapshotStore,
  SaveOutcome,
  StoredSnapshot,
} from '../../engine/ports/snapshot-store.js';
import { API, apiCode, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { readLast, readStream, type StreamMessage } from '../jetstream/direct-get.js';
import type { TopologyOptions } from '../jetstream/topology.js';
import { snapshotSequence } from './snapshot-sequence.js';

/** Room for subject and headers in a message of the largest size. */
const ENVELOPE_BYTES = 4096;
const HISTORY = 5;
/** Keys whose last write is remembered. */
const MAX_WRITTEN = 10_000;
/** Rounds of compare and set, each of which one writer wins: far more than there are writers of one key. */
const MAX_ATTEMPTS = 1000;

interface SnapshotStoreOptions extends TopologyOptions {
  /** Longest wait for one answer of the server, in milliseconds. */
  readonly timeoutMs: number;
  /** A snapshot up to this sequence is none: see `forgotten-floor.ts`. Default: all are. */
  readonly floor?: (key: Token) => number;
  /** As `SessionLifecycle.refreshed`: what is written late must know. Default: there is nothing to know. */
  readonly refreshed?: () => Promise<void> | undefined;
}

/** Opens a bucket of snapshots; unless it is only read, it is made where it is missing. */
export async function openSnapshotStore(
  connection: NatsConnection,
  bucket: string,
  description: string,
  options: SnapshotStoreOptions,
  make = true,
): Promise<NatsSnapshotStore> {
  const { replicas, timeoutMs, floor = () => 0, refreshed = () => undefined } = options;
  const open = () =>
    // Asking for the account's limits first, as the client does on its own, would need one more permission.
    connection.jetstream({ checkAPI: false, timeout: timeoutMs }).views.kv(bucket, {
      ...(!make && { bindOnly: true, allow_direct: true }),
      history: HISTORY,
      storage: StorageType.File,
      replicas,
      description,
    });
  return new NatsSnapshotStore(
    await open(),
    { name: bucket, make, open, timeoutMs, floor, refreshed },
    connection,
  );
}

interface Bucket {
  readonly name: string;
  /** Whether it is made where it is missing. */
  readonly make: boolean;
  readonly open: () => Promise<KV>;
  readonly timeoutMs: number;
  readonly floor: (key: Token) => number;
  readonly refreshed: () => Promise<void> | undefined;
}

/** What is stored last of a key, whatever it is, and the newest snapshot. */
interface Kept {
  readonly revision: number;
  readonly snapshot: StoredSnapshot | undefined;
}

export class NatsSnapshotStore implements ReplacingSnapshotStore {
  #kv: KV;
  readonly #bucket: Bucket;
  readonly #connection: NatsConnection;
  /** What this process wrote last: while nobody else writes, the stored value need not be read back first. */
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
    // Written late: what it is of was forgotten.
    if (snapshot.sequence <= this.#bucket.floor(key)) return 'older';
    if (text === undefined) return 'too_large';
    const packed = { sequence: snapshot.sequence, text };
    try {
      const last = this.#written.get(key);
      // A revision that is still the last one means that the value is still ours: it need not be read.
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
    // The server drops what is stored under the key, in one step with storing this.
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

  /** Compare and set: `false` when another writer came first. */
  async #replace(key: Token, snapshot: StoredSnapshot, revision: number | undefined): Promise<boolean> {
    const { sequence, text } = snapshot;
    this.#written.delete(key);
    try {
      const written =
        revision === undefined
          ? await this.#onBucket((kv) => kv.create(key, text))
          : await this.#onBucket((kv) => kv.update(key, text, revision));
      this.#written.set(key, { sequence, revision: written });
      return true;
    } catch (error) {
      if (apiCode(error) === API.wrongLastSequence) return false;
      throw error;
    }
  }

  /** Makes the bucket again where someone has deleted it: without it there are no snapshots, and all else works. */
  async #onBucket<T>(work: (kv: KV) => Promise<T>): Promise<T> {
    try {
      return await work(this.#kv);
    } catch (error) {
      if (!isNoResponders(error) && apiCode(error) !== API.streamNotFound) throw error;
      if (!this.#bucket.make || !(await this.#isGone())) throw error;
      this.#written.clear();
      this.#kv = await this.#bucket.open();
      return work(this.#kv);
    }
  }

  async #isGone(): Promise<boolean> {
    try {
      await this.#kv.status();
      return false;
    } catch (error) {
      return apiCode(error) === API.streamNotFound;
    }
  }

  /** What is stored last of a key, and the newest snapshot: they differ where the last is not a snapshot. */
  async #kept(key: Token): Promise<Kept | undefined> {
    const last = await this.#last(key);
    if (last === undefined) return undefined;
    const { sequence: revision } = last;
    if (isDeletion(last)) return { revision, snapshot: undefined };
    return { revision, snapshot: snapshotIn(last) ?? (await this.#history(key)).at(-1) };
  }

  /** The newest message of a key, by one request: a user who may read no other key has the right to it. */
  #last(key: Token): Promise<StreamMessage | undefined> {
    const { name, timeoutMs } = this.#bucket;
    return this.#onBucket(() => readLast(this.#connection, `KV_${name}`, this.#subject(key), timeoutMs));
  }

  /** The snapshots of a key, oldest first. Not by the client's own history: it makes a consumer, as no reader may. */
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
      // Who may read the newest of one key alone does without a snapshot.
      if (error instanceof ThroughlineError && error.code === 'permission_denied') return [];
      throw error;
    }
  }

  #subject(key: Token): string {
    return `$KV.${this.#bucket.name}.${key}`;
  }

  async #reading<T>(key: Token, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      // There is no bucket, and a process that only reads does not make one.
      if (isNoResponders(error)) return undefined;
      throw toThroughlineError(error, `reading the snapshot of ${key}`);
    }
  }
}

/** Whether a message says that everything before it under its key was deleted. */
export function isDeletion({ headers, foreign }: StreamMessage): boolean {
  return foreign === undefined && headers?.has('KV-Operation') === true;
}

/** The snapshot in a message; `undefined` for a foreign message, and for any other text. */
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
 * A snapshot that would not fit one message is kept packed: `{"after_sequence":N,"gzip":"…"}`, base64 of the whole
 * text. Smaller ones stay as they are, to be read with the plain `nats` CLI.
 */
const [pack, unpack] = [promisify(gzip), promisify(gunzip)];
const PACKED = /^\{"after_sequence":\d+,"gzip":"([A-Za-z0-9+/=]+)"\}$/;
/** Larger than any snapshot that was packed: what unpacks to more is none of ours. */
const MAX_UNPACKED = 256 * 1024 * 1024;

/** The text as it is stored; `undefined` when it does not fit `limit` bytes even packed. */
async function packedText(sequence: number, text: string, limit: number): Promise<string | undefined> {
  if (Buffer.byteLength(text) <= limit) return text;
  const packed = `{"after_sequence":${sequence},"gzip":"${(await pack(text)).toString('base64')}"}`;
  return packed.length <= limit ? packed : undefined;
}

/** The text that was stored; what cannot be unpacked is given as it is. */
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
