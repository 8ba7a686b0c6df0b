import { DiscardPolicy, type JetStreamManagerOptions, type KV, type NatsConnection, StorageType } from 'nats';
import { z } from 'zod';
import { jsonOf } from '../../contracts/event.js';
import {
  learningOfVectorSubject,
  type Token,
  VECTOR_BUCKET,
  vectorKey,
  vectorSubjects,
} from '../../contracts/names.js';
import type { StoredVector, VectorStore, VectorsRead } from '../../engine/ports/vector-store.js';
import { float32FromBase64, float32ToBase64 } from '../../shared/varint.js';
import { API, apiCode, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { readStream } from '../jetstream/direct-get.js';
import type { TopologyOptions } from '../jetstream/topology.js';

const VECTOR_STREAM = `KV_${VECTOR_BUCKET}`;

const storedValue = z.object({
  model: z.string(),
  dimension: z.int().positive(),
  text: z.string(),
  vector: z.string(),
});

/**
 * Vectors in the bucket `learning_vectors`, key `<project>.<learning>`, JSON on one line. Created with the first vector, since
 * most installations have no embedder.
 */
export class NatsVectorStore implements VectorStore {
  readonly #connection: NatsConnection;
  readonly #options: TopologyOptions & { readonly timeoutMs: number };
  #bucket: Promise<KV> | undefined;

  constructor(connection: NatsConnection, options: TopologyOptions & { readonly timeoutMs: number }) {
    this.#connection = connection;
    this.#options = options;
  }

  async put(project: Token, learning: Token, { model, text, vector }: StoredVector): Promise<void> {
    const value = { model, dimension: vector.length, text, vector: float32ToBase64(vector) };
    const write = async (bucket: Promise<KV>) => {
      await (await bucket).put(vectorKey(project, learning), JSON.stringify(value));
    };
    const bucket = this.#opened();
    try {
      await write(bucket).catch(async (error: unknown) => {
        // A concurrent write may have reopened the bucket already.
        if (this.#bucket === bucket) this.#bucket = undefined;
        // The bucket was deleted since it was opened.
        if (!isNoResponders(error)) throw error;
        await write(this.#opened());
      });
    } catch (error) {
      throw toThroughlineError(error, `writing the vector of learning ${learning}`);
    }
  }

  #opened(): Promise<KV> {
    if (this.#bucket !== undefined) return this.#bucket;
    const opening = this.#open();
    this.#bucket = opening;
    opening.catch(() => {
      if (this.#bucket === opening) this.#bucket = undefined;
    });
    return opening;
  }

  async epoch(): Promise<string | undefined> {
    try {
      const jsm = await this.#connection.jetstreamManager(this.#unchecked());
      return String((await jsm.streams.info(VECTOR_STREAM)).created);
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return undefined;
      throw toThroughlineError(error, 'asking for the bucket of vectors');
    }
  }

  async read(project: Token, after: number): Promise<VectorsRead> {
    const messages = await readStream(
      this.#connection,
      VECTOR_STREAM,
      vectorSubjects(project),
      { from: after + 1 },
      this.#options.timeoutMs,
    ).catch((error: unknown) => {
      throw toThroughlineError(error, `reading the vectors of project ${project}`);
    });
    const vectors = messages.flatMap(({ subject, data, foreign }) => {
      const learning = learningOfVectorSubject(subject);
      const stored = foreign === undefined ? storedVector(data) : undefined;
      return learning === undefined || stored === undefined ? [] : [{ learning, ...stored }];
    });
    return { vectors, through: messages.at(-1)?.sequence ?? after };
  }

  /** `checkAPI` would request the account's limits, which needs another permission. */
  #unchecked(): JetStreamManagerOptions {
    return { timeout: this.#options.timeoutMs, checkAPI: false };
  }

  async #open(): Promise<KV> {
    if ((await this.epoch()) === undefined) await this.#make();
    const options = { bindOnly: true, allow_direct: true };
    return this.#connection.jetstream(this.#unchecked()).views.kv(VECTOR_BUCKET, options);
  }

  /** Creates the bucket like the client, which cannot choose the first sequence. */
  async #make(): Promise<void> {
    const jsm = await this.#connection.jetstreamManager(this.#unchecked());
    try {
      await jsm.streams.add({
        name: VECTOR_STREAM,
        subjects: [`$KV.${VECTOR_BUCKET}.>`],
        max_msgs_per_subject: 1,
        storage: StorageType.File,
        num_replicas: this.#options.replicas,
        discard: DiscardPolicy.New,
        allow_direct: true,
        allow_rollup_hdrs: true,
        deny_delete: true,
        description: 'Vectors of learnings, which can be computed again',
        // Cursors into an earlier bucket must stay valid; no bucket stores a vector per microsecond.
        first_seq: Date.now() * 1000,
      });
    } catch (error) {
      // Another worker has just created it.
      if (apiCode(error) !== API.streamNameInUse) throw error;
    }
  }
}

/** Returns `undefined` for a deleted key or invalid data. */
function storedVector(data: Uint8Array): StoredVector | undefined {
  if (data.length === 0) return undefined;
  const parsed = storedValue.safeParse(jsonOf(data));
  const vector = parsed.success ? float32FromBase64(parsed.data.vector) : undefined;
  if (!parsed.success || vector?.length !== parsed.data.dimension) return undefined;
  return { model: parsed.data.model, text: parsed.data.text, vector };
}
