import { type JetStreamManager, type KV, type Msg, type NatsConnection, StorageType } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import { INDEX_BUCKET, indexSubject, isToken, type Token } from '../../contracts/names.js';
import { type SessionIndexEntry, sessionIndexEntry } from '../../contracts/session-file.js';
import type { IndexListener, IndexPart, SessionIndex } from '../../engine/ports/session-index.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { subscribeResiliently } from '../connection/resilient-subscription.js';
import { batchesOf, readLast, type StreamMessage } from '../jetstream/direct-get.js';
import { foreignBy } from '../jetstream/stored-replies.js';
import type { TopologyOptions } from '../jetstream/topology.js';

/** Attempts of compare-and-set; one writer succeeds in each round, and there are fewer keepers. */
const MAX_ATTEMPTS = 100;
const STREAM = `KV_${INDEX_BUCKET}`;

interface SessionIndexOptions extends TopologyOptions {
  readonly timeoutMs: number;
}

/** The index in the bucket `session_index`: a key per session, JSON on one line. Created with the first write. */
export class NatsSessionIndex implements SessionIndex {
  readonly #connection: NatsConnection;
  readonly #jsm: JetStreamManager;
  readonly #options: SessionIndexOptions;
  #bucket: Promise<KV> | undefined;

  constructor(connection: NatsConnection, jsm: JetStreamManager, options: SessionIndexOptions) {
    this.#connection = connection;
    this.#jsm = jsm;
    this.#options = options;
  }

  async epoch(): Promise<string | undefined> {
    try {
      return (await this.#jsm.streams.info(STREAM)).created;
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return undefined;
      throw toThroughlineError(error, 'looking for the index of sessions');
    }
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
      // The bucket may have been deleted: the next write opens it again.
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
      // The deletion marker notifies watchers; its subject contains the name, so it is purged as well.
      await bucket.delete(session);
      await this.#jsm.streams.purge(STREAM, { filter: indexSubject(session) });
    } catch (error) {
      this.#bucket = undefined;
      throw toThroughlineError(error, `removing the index entry of ${session}`);
    }
  }

  #open(): Promise<KV> {
    const { timeoutMs: timeout, replicas } = this.#options;
    // `checkAPI` would request the account's limits, which needs another permission.
    return this.#connection.jetstream({ checkAPI: false, timeout }).views.kv(INDEX_BUCKET, {
      history: 1,
      storage: StorageType.File,
      replicas,
      description: 'What lists show of each session',
    });
  }
}

/** Compare-and-set: `false` after a lost race. */
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
