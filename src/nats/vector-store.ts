import { type JetStreamManagerOptions, type KV, type NatsConnection, StorageType } from 'nats';
import { z } from 'zod';
import {
  learningOfVectorSubject,
  type Token,
  VECTOR_BUCKET,
  vectorKey,
  vectorSubjects,
} from '../contracts/names.js';
import { float32FromBase64, float32ToBase64 } from '../float32.js';
import type { StoredVector, VectorStore, VectorsRead } from '../ports/vector-store.js';
import { readStream } from './direct-get.js';
import { toThroughlineError } from './errors.js';
import type { TopologyOptions } from './topology.js';

/** The stream behind the bucket. */
const VECTOR_STREAM = `KV_${VECTOR_BUCKET}`;

const storedValue = z.object({
  model: z.string(),
  dimension: z.int().positive(),
  text: z.string(),
  vector: z.string(),
});

/**
 * Vectors in the bucket `learning_vectors`, key `<project>.<learning>`, each value JSON on one line. Made with the
 * first vector: most installations have no embedder and need no bucket.
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
    try {
      this.#bucket ??= this.#open();
      await (await this.#bucket).put(vectorKey(project, learning), JSON.stringify(value));
    } catch (error) {
      // It may have been deleted: the next put makes sure of it.
      this.#bucket = undefined;
      throw toThroughlineError(error, `writing the vector of learning ${learning}`);
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
    const vectors = messages.flatMap(({ subject, data }) => {
      const learning = learningOfVectorSubject(subject);
      const stored = storedVector(data);
      return learning === undefined || stored === undefined ? [] : [{ learning, ...stored }];
    });
    return { vectors, through: messages.at(-1)?.sequence ?? after };
  }

  /** Asking for the account's limits first, as the client does on its own, would need one more permission. */
  #unchecked(): JetStreamManagerOptions {
    return { timeout: this.#options.timeoutMs, checkAPI: false };
  }

  #open(): Promise<KV> {
    return this.#connection.jetstream(this.#unchecked()).views.kv(VECTOR_BUCKET, {
      history: 1,
      storage: StorageType.File,
      replicas: this.#options.replicas,
      description: 'Vectors of learnings, which can be computed anew',
    });
  }
}

/** `undefined` for a key that was deleted, and for what is no vector. */
function storedVector(data: Uint8Array): StoredVector | undefined {
  if (data.length === 0) return undefined;
  const parsed = storedValue.safeParse(jsonOf(data));
  const vector = parsed.success ? float32FromBase64(parsed.data.vector) : undefined;
  if (!parsed.success || vector?.length !== parsed.data.dimension) return undefined;
  return { model: parsed.data.model, text: parsed.data.text, vector };
}

function jsonOf(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.length).toString());
  } catch {
    return undefined;
  }
}
