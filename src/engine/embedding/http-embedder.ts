import { z } from 'zod';
import { messageOf, TextsRefusedError, ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import { linkedSignal } from '../../shared/linked-signal.js';
import { clipText, oneLine } from '../../shared/text.js';
import { float32FromBase64 } from '../../shared/varint.js';
import type { Embedder } from '../ports/vector-store.js';
import type { HttpEmbedderOptions } from './embedder-options.js';

const MAX_QUOTED = 200;
/** Bad Request, Content Too Large, Unprocessable Content: other statuses say nothing about the texts. */
const TEXTS_REFUSED = [400, 413, 422];

/**
 * Requests embeddings from an endpoint that speaks OpenAI's `/v1/embeddings`, one batch after the other.
 *
 * Asks once: the background work that computes vectors has its own backoff, and a query cannot wait.
 */
export class HttpEmbedder implements Embedder {
  readonly model: string;
  readonly #url: URL;
  readonly #options: HttpEmbedderOptions;
  readonly #closed = new AbortController();

  constructor(options: HttpEmbedderOptions) {
    this.#options = options;
    this.#url = endpoint(options.url);
    this.model = `${this.#url.host}/${options.model}`;
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += this.#options.batch) {
      vectors.push(...(await this.#request(texts.slice(from, from + this.#options.batch), signal)));
    }
    const odd = vectors.find(({ length }) => length !== vectors[0]?.length);
    if (odd !== undefined) {
      throw this.#error(`returned vectors of ${vectors[0]?.length} and of ${odd.length} numbers`);
    }
    return vectors;
  }

  async close(): Promise<void> {
    this.#closed.abort();
  }

  async #request(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const { model, key, timeoutMs } = this.#options;
    const limit = linkedSignal([this.#closed.signal, signal], timeoutMs);
    let response: Response;
    let body: string;
    try {
      response = await fetch(this.#url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
        signal: limit.signal,
      });
      body = await response.text();
    } catch (error) {
      throw this.#error(faultOf(error, limit.signal, timeoutMs), error);
    } finally {
      limit.release();
    }
    if (response.ok) {
      const read = vectorsOf(body, texts.length);
      if ('fault' in read) throw this.#refused(read.fault);
      return read.vectors;
    }
    const { status } = response;
    const said = this.#quoted(body);
    const fault = `answered ${status}${said === '' ? '' : `: ${said}`}`;
    if (TEXTS_REFUSED.includes(status)) throw this.#refused(fault);
    if (status !== 401 && status !== 403 && status !== 404) throw this.#error(fault);
    const fix = status === 404 ? 'check THROUGHLINE_EMBED_URL and _MODEL' : 'check THROUGHLINE_EMBED_KEY';
    throw new ThroughlineError('config_invalid', `${this.#said(fault)} (${fix})`);
  }

  #error(fault: string, cause?: unknown): ThroughlineError {
    return new ThroughlineError('unavailable', this.#said(fault), { cause });
  }

  #refused(fault: string): ThroughlineError {
    return new TextsRefusedError(this.#said(fault));
  }

  #said(fault: string): string {
    return `${this.#url.origin}${this.#url.pathname} ${fault}`;
  }

  /** Returns the server's text as one short line, without the key. */
  #quoted(body: string): string {
    const { key } = this.#options;
    const safe = key === undefined ? body : body.replaceAll(key, '***');
    return clipText(oneLine(safe.slice(0, 10 * MAX_QUOTED)), MAX_QUOTED);
  }
}

/** Returns the URL of embeddings below a base URL. Throws `TypeError` on an invalid URL. */
export function endpoint(base: string): URL {
  const url = new URL(base);
  let path = url.pathname;
  while (path.endsWith('/')) path = path.slice(0, -1);
  if (path.endsWith('/embeddings')) url.pathname = path;
  else url.pathname = `${path.endsWith('/v1') ? path : `${path}/v1`}/embeddings`;
  return url;
}

function faultOf(error: unknown, signal: AbortSignal, timeoutMs: number): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return `did not answer within ${timeoutMs} ms`;
  }
  if (signal.aborted) return 'was cancelled';
  // The error of fetch says "fetch failed"; its cause says why.
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return `cannot be reached: ${messageOf(cause)}`;
}

/** The part of the reply that is used. Some servers send base64 whatever encoding was requested. */
const reply = z.object({
  data: z.array(
    z.object({
      index: z.int().nonnegative(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
});

/**
 * Returns the vectors of a reply in the order of the texts, which `index` gives.
 *
 * @returns `fault` completes "<endpoint> …"
 */
export function vectorsOf(
  body: string,
  count: number,
): { readonly vectors: Float32Array[] } | { readonly fault: string } {
  const json = jsonOf(Buffer.from(body));
  if (json === undefined) return { fault: 'returned no embeddings: the body is not JSON' };
  const parsed = reply.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { fault: `returned no embeddings: ${issue?.path.join('.') || 'the body'}: ${issue?.message}` };
  }
  const { data } = parsed.data;
  if (data.length !== count) return { fault: `returned ${data.length} vectors for ${count} texts` };
  const vectors: Float32Array[] = [];
  for (const { index, embedding } of data) {
    if (index >= count || vectors[index] !== undefined)
      return { fault: `did not give each text a vector of its own` };
    const vector =
      typeof embedding === 'string' ? float32FromBase64(embedding) : Float32Array.from(embedding);
    const fault = vectorFault(vector);
    if (vector === undefined || fault !== undefined) return { fault: `returned ${fault}` };
    vectors[index] = vector;
  }
  return { vectors };
}

export function vectorFault(vector: Float32Array | undefined): string | undefined {
  if (vector === undefined || vector.length === 0) return 'an empty vector';
  if (!vector.every(Number.isFinite)) return 'a vector with a value that is not a finite number';
  if (vector.every((value) => value === 0)) return 'a vector of zeros';
  return undefined;
}
