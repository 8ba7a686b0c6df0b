import { type KV, type KvEntry, type NatsConnection, StorageType } from 'nats';
import type { Token } from '../contracts/names.js';
import { ThroughlineError } from '../errors.js';
import type { SaveOutcome, SnapshotStore, StoredSnapshot } from '../ports/snapshot-store.js';
import { API, apiCode, toThroughlineError } from './errors.js';
import { packedText, unpackedText } from './packed-text.js';
import type { TopologyOptions } from './topology.js';

/** Room for subject and headers in a message of the largest size. */
const ENVELOPE_BYTES = 4096;
const HISTORY = 5;
/** Keys whose last write is remembered. */
const MAX_WRITTEN = 10_000;
/** Rounds of compare and set, each of which somebody wins: far more than there are writers of one key. */
const MAX_ATTEMPTS = 1000;

/** Opens a bucket of snapshots, making it where it is missing. */
export async function openSnapshotStore(
  connection: NatsConnection,
  bucket: string,
  description: string,
  options: TopologyOptions,
): Promise<NatsSnapshotStore> {
  const kv = await connection.jetstream().views.kv(bucket, {
    history: HISTORY,
    storage: StorageType.File,
    replicas: options.replicas,
    description,
  });
  return new NatsSnapshotStore(kv, connection);
}

export class NatsSnapshotStore implements SnapshotStore {
  readonly #kv: KV;
  readonly #connection: NatsConnection;
  /** What this process wrote last: while nobody else writes, the stored value need not be read back first. */
  readonly #written = new Map<Token, { readonly sequence: number; readonly revision: number }>();

  constructor(kv: KV, connection: NatsConnection) {
    this.#kv = kv;
    this.#connection = connection;
  }

  async load(key: Token): Promise<StoredSnapshot | undefined> {
    const entry = await this.#get(key);
    return entry && unpacked(snapshotOf(entry));
  }

  async loadAtOrBefore(key: Token, sequence: number): Promise<StoredSnapshot | undefined> {
    const newest = await this.#get(key);
    if (newest === undefined) return undefined;
    const snapshot = snapshotOf(newest);
    if (snapshot.sequence <= sequence) return unpacked(snapshot);
    let best: StoredSnapshot | undefined;
    try {
      for await (const entry of await this.#kv.history({ key })) {
        if (entry.operation !== 'PUT') continue;
        const older = snapshotOf(entry);
        if (older.sequence <= sequence && older.sequence > (best?.sequence ?? 0)) best = older;
      }
    } catch (error) {
      throw toThroughlineError(error, `reading the snapshots of ${key}`);
    }
    return best && unpacked(best);
  }

  async save(key: Token, snapshot: StoredSnapshot): Promise<SaveOutcome> {
    const limit = (this.#connection.info?.max_payload ?? 1024 * 1024) - ENVELOPE_BYTES;
    const text = await packedText(snapshot.sequence, snapshot.text, limit);
    if (text === undefined) return 'too_large';
    const packed = { sequence: snapshot.sequence, text };
    try {
      const last = this.#written.get(key);
      // A revision that is still the last one means that the value is still ours: it need not be read.
      const follows = last !== undefined && last.sequence < snapshot.sequence;
      if (follows && (await this.#replace(key, packed, last.revision))) return 'saved';
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const entry = await this.#kv.get(key);
        const kept = entry?.operation === 'PUT' ? snapshotOf(entry) : undefined;
        if (kept !== undefined && kept.sequence >= snapshot.sequence) return 'older';
        if (await this.#replace(key, packed, entry?.revision)) return 'saved';
      }
    } catch (error) {
      throw toThroughlineError(error, `writing the snapshot of ${key}`);
    }
    throw new ThroughlineError('conflict', `others keep writing the snapshot of ${key}`);
  }

  /** Compare and set: `false` when somebody else wrote first. */
  async #replace(key: Token, snapshot: StoredSnapshot, revision: number | undefined): Promise<boolean> {
    const { sequence, text } = snapshot;
    this.#written.delete(key);
    try {
      const written =
        revision === undefined
          ? await this.#kv.create(key, text)
          : await this.#kv.update(key, text, revision);
      this.#written.set(key, { sequence, revision: written });
      const oldest = this.#written.keys().next();
      if (this.#written.size > MAX_WRITTEN && !oldest.done) this.#written.delete(oldest.value);
      return true;
    } catch (error) {
      if (apiCode(error) === API.wrongLastSequence) return false;
      throw error;
    }
  }

  async #get(key: Token): Promise<KvEntry | undefined> {
    try {
      const entry = await this.#kv.get(key);
      return entry?.operation === 'PUT' ? entry : undefined;
    } catch (error) {
      throw toThroughlineError(error, `reading the snapshot of ${key}`);
    }
  }
}

/** The text with the sequence that stands at its beginning; a value that does not begin like a snapshot counts as 0. */
function snapshotOf(entry: KvEntry): StoredSnapshot {
  const text = entry.string();
  return { sequence: Number(/^\{"after_sequence":(\d+),/.exec(text)?.[1] ?? 0), text };
}

async function unpacked({ sequence, text }: StoredSnapshot): Promise<StoredSnapshot> {
  return { sequence, text: await unpackedText(text) };
}
