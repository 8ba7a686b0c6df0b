import { type JetStreamManager, type KV, type Msg, type NatsConnection, StorageType } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import { INDEX_BUCKET, indexSubject, isToken, type Token } from '../../contracts/names.js';
import { type SessionIndexEntry, sessionIndexEntry } from '../../contracts/session-file.js';
import type { IndexListener, IndexPart, SessionIndex } from '../../engine/ports/session-index.js';
import { subscribeResiliently } from '../connection/connect-nats.js';
import { API, apiCode, ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { batchesOf, readLast, type StreamMessage } from '../jetstream/direct-get.js';
import { foreignBy } from '../jetstream/stored-replies.js';
import type { BucketOptions } from './kv-bucket.js';

const STREAM = `KV_${INDEX_BUCKET}`;
/** Rounds of writers that may come first. */
const MAX_ATTEMPTS = 100;

/** The index in the bucket `session_index`: a key per session, JSON on one line. Created with the first write. */
export class NatsSessionIndex implements SessionIndex {
  readonly #connection: NatsConnection;
  readonly #jsm: JetStreamManager;
  readonly #options: BucketOptions;
  #bucket: Promise<KV> | undefined;

  constructor(connection: NatsConnection, jsm: JetStreamManager, options: BucketOptions) {
    this.#connection = connection;
    this.#jsm = jsm;
    this.#options = options;
  }

  async epoch(): Promise<string | undefined> {
    return (await ifExists(this.#jsm.streams.info(STREAM), 'looking for the index of sessions'))?.created;
  }

  async *read(after: number): AsyncGenerator<IndexPart> {
    // Without a stream the read might get no answer at all.
    if ((await this.epoch()) === undefined) return;
    const { timeoutMs } = this.#options;
    try {
      const batches = batchesOf(this.#connection, STREAM, indexSubject('*'), { seq: after + 1 }, timeoutMs);
      for await (const messages of batches) {
        const entries = messages.flatMap((message) => entryIn(message) ?? []);
        yield { entries, through: messages.at(-1)?.sequence ?? after };
      }
    } catch (error) {
      throw toThroughlineError(error, 'reading the index of sessions');
    }
  }

  watch({ written, removed }: IndexListener): () => void {
    const subscription = subscribeResiliently(this.#connection, indexSubject('*'), (message) => {
      if (foreignBy(message.headers, 'as_stored') !== undefined) return;
      const session = message.subject.split('.')[2];
      if (!isToken(session)) return;
      if (isDeletion(message)) return removed(session);
      const entry = entryOf(session, message.data);
      if (entry !== undefined) written(entry);
    });
    return () => {
      if (!this.#connection.isClosed()) subscription.close();
    };
  }

  async put(entry: SessionIndexEntry): Promise<'saved' | 'older'> {
    const { session } = entry.figures;
    const text = JSON.stringify(entry);
    try {
      this.#bucket ??= this.#open();
      const bucket = await this.#bucket;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const { timeoutMs } = this.#options;
        const last = await readLast(this.#connection, STREAM, indexSubject(session as Token), timeoutMs);
        const kept = last && entryIn(last);
        if (kept !== undefined && kept.sequence >= entry.sequence) return 'older';
        if (await replaced(bucket, session, text, last?.sequence ?? 0)) return 'saved';
      }
    } catch (error) {
      // Perhaps it was deleted: the next write opens it again.
      this.#bucket = undefined;
      throw toThroughlineError(error, `writing the index entry of ${session}`);
    }
    throw new ThroughlineError('conflict', `others keep writing the index entry of ${session}`);
  }

  async remove(session: Token): Promise<void> {
    try {
      if ((await this.epoch()) === undefined) return;
      this.#bucket ??= this.#open();
      const bucket = await this.#bucket;
      // The marker tells those who watch; its subject has the name as well, so nothing of it is kept.
      await bucket.delete(session);
      await this.#jsm.streams.purge(STREAM, { filter: indexSubject(session) });
    } catch (error) {
      this.#bucket = undefined;
      throw toThroughlineError(error, `removing the index entry of ${session}`);
    }
  }

  #open(): Promise<KV> {
    const { timeoutMs: timeout, replicas } = this.#options;
    // Asking for the account's limits first, as the client does on its own, would need one more permission.
    return this.#connection.jetstream({ checkAPI: false, timeout }).views.kv(INDEX_BUCKET, {
      history: 1,
      storage: StorageType.File,
      replicas,
      description: 'What lists show of each session',
    });
  }
}

/** Compare and set: `false` when another writer came first. */
async function replaced(bucket: KV, session: string, text: string, last: number): Promise<boolean> {
  try {
    await bucket.put(session, text, { previousSeq: last });
    return true;
  } catch (error) {
    if (apiCode(error) === API.wrongLastSequence) return false;
    throw error;
  }
}

/** Returns the entry in a message; `undefined` for a foreign message, a deleted key or an invalid value. */
function entryIn({ subject, data, foreign }: StreamMessage): SessionIndexEntry | undefined {
  const session = subject.split('.')[2];
  return foreign === undefined && isToken(session) ? entryOf(session, data) : undefined;
}

function entryOf(session: Token, data: Uint8Array): SessionIndexEntry | undefined {
  const read = sessionIndexEntry.safeParse(jsonOf(data));
  return read.success && read.data.figures.session === session ? read.data : undefined;
}

function isDeletion({ headers }: Msg): boolean {
  return headers?.has('KV-Operation') === true;
}
