import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { float32ToBase64 } from '../../src/shared/varint.js';

/** A request as it came. */
export interface EmbeddingRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly model: string;
  readonly input: readonly string[];
  readonly encodingFormat: string;
}

/** How the server answers a request. */
export type Answer = (request: EmbeddingRequest, response: ServerResponse) => void;

/** A real HTTP server that speaks OpenAI's `/v1/embeddings`, with vectors that depend on nothing but the text. */
export interface EmbeddingServer extends AsyncDisposable {
  /** Without `/v1`. */
  readonly url: string;
  readonly requests: readonly EmbeddingRequest[];
  /** How the next requests are answered, one after the other; those after that in the usual way. */
  next(...answers: readonly Answer[]): void;
  /** How every request is answered from now on. */
  always(answer: Answer): void;
  stop(): Promise<void>;
}

export const DIMENSION = 384;

/** A bag of words, each word hashed to a few places: texts with common words lie close together. */
export function bagVector(text: string, dimension = DIMENSION): Float32Array {
  const vector = new Float32Array(dimension);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    const hash = createHash('sha256').update(word).digest();
    for (let place = 0; place < 8; place += 1) {
      const at = hash.readUInt16LE(place * 2) % dimension;
      vector[at] = (vector[at] ?? 0) + 1;
    }
  }
  return vector;
}

export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const requests: EmbeddingRequest[] = [];
  const queue: Answer[] = [];
  let usual: Answer = vectors();
  const server = createServer((incoming, response) => {
    void readRequest(incoming).then((request) => {
      requests.push(request);
      (queue.shift() ?? usual)(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const { port } = address;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    next: (...answers) => queue.push(...answers),
    always(answer) {
      usual = answer;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function readRequest(incoming: IncomingMessage): Promise<EmbeddingRequest> {
  let body = '';
  for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
  const { model, input, encoding_format: encodingFormat } = JSON.parse(body);
  return {
    path: incoming.url ?? '',
    authorization: incoming.headers.authorization,
    model,
    input,
    encodingFormat,
  };
}

interface Item {
  readonly index: number;
  readonly embedding: readonly (number | null)[] | string;
}

/** A list of embeddings, changed before it is sent. */
export function vectors(
  change: (items: Item[]) => unknown[] = (items) => items,
  dimension = DIMENSION,
): Answer {
  return ({ input, model }, response) => {
    const items = input.map((text, index) => ({ index, embedding: [...bagVector(text, dimension)] }));
    send(response, 200, JSON.stringify({ object: 'list', model, data: change(items) }));
  };
}

/** The same as base64, whatever was asked for. */
export const base64 = vectors((items) =>
  items.map(({ index, embedding }) => ({
    index,
    embedding:
      typeof embedding === 'string' ? embedding : float32ToBase64(Float32Array.from(embedding, Number)),
  })),
);

export function status(code: number, body = '', headers: Record<string, string> = {}): Answer {
  return (_request, response) => send(response, code, body, headers);
}

export const hang: Answer = () => {};

/** The connection ends without an answer. */
export const drop: Answer = (_request, response) => {
  response.destroy();
};

/** The connection ends in the middle of the answer. */
export const dropHalfway: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
  response.write('{"data":[', () => response.destroy());
};

function send(
  response: ServerResponse,
  code: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(body);
}
