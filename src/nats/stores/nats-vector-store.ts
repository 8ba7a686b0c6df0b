import type { NatsConnection } from 'nats';
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
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { readStream } from '../jetstream/direct-get.js';
import { type BucketKind, type BucketOptions, KvBucket } from './kv-bucket.js';

const VECTOR_STREAM = `KV_${VECTOR_BUCKET}`;

const storedValue = z.object({
  model: z.string(),
  dimension: z.int().positive(),
  text: z.string(),
  vector: z.string(),
});

const BUCKET: BucketKind = {
  name: VECTOR_BUCKET,
  reads: 'any',
  config: () => ({
    deny_delete: true,
    description: 'Vectors of learnings, which can be computed again',
    // Cursors into an earlier bucket must stay valid; no bucket stores a vector per microsecond.
    first_seq: Date.now() * 1000,
  }),
};

/**
 * Vectors in the bucket `learning_vectors`, key `<project>.<learning>`, JSON on one line. Created with the first vector, since
 * most installations have no embedder.
 */
export class NatsVectorStore implements VectorStore {
  readonly #connection: NatsConnection;
  readonly #options: BucketOptions;
  readonly #bucket: KvBucket;

  constructor(connection: NatsConnection, options: BucketOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#bucket = new KvBucket(connection, options, BUCKET);
  }

  async put(project: Token, learning: Token, { model, text, vector }: StoredVector): Promise<void> {
    const value = { model, dimension: vector.length, text, vector: float32ToBase64(vector) };
    await this.#bucket.write(vectorKey(project, learning), () => value);
  }

  async epoch(): Promise<string | undefined> {
    // `checkAPI` would request the account's limits, which needs another permission.
    const options = { timeout: this.#options.timeoutMs, checkAPI: false };
    const jsm = await this.#connection.jetstreamManager(options);
    return (await ifExists(jsm.streams.info(VECTOR_STREAM), 'asking for the bucket of vectors'))?.created;
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
}

/** Returns `undefined` for a deleted key or invalid data. */
function storedVector(data: Uint8Array): StoredVector | undefined {
  if (data.length === 0) return undefined;
  const parsed = storedValue.safeParse(jsonOf(data));
  const vector = parsed.success ? float32FromBase64(parsed.data.vector) : undefined;
  if (!parsed.success || vector?.length !== parsed.data.dimension) return undefined;
  return { model: parsed.data.model, text: parsed.data.text, vector };
}
