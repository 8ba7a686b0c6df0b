import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TextsRefusedError, ThroughlineError } from '../../../src/contracts/errors.js';
import type { HttpEmbedderOptions } from '../../../src/engine/embedding/embedder-options.js';
import { endpoint, HttpEmbedder } from '../../../src/engine/embedding/http-embedder.js';
import { GarbageCollection } from '../../support/collecting.js';
import {
  type Answer,
  bagVector,
  base64,
  DIMENSION,
  drop,
  dropHalfway,
  type EmbeddingServer,
  hang,
  startEmbeddingServer,
  status,
  vectors,
} from '../../support/embedding-server.js';

const KEY = 'sk-Not/to.be+said';

let server: EmbeddingServer;
beforeEach(async () => {
  server = await startEmbeddingServer();
});
afterEach(() => server.stop());

function embedder(options: Partial<HttpEmbedderOptions> = {}) {
  const defaults = {
    kind: 'http',
    url: server.url,
    model: 'bag',
    key: KEY,
    timeoutMs: 5000,
    batch: 64,
  } as const;
  return new HttpEmbedder({ ...defaults, ...options });
}

async function failure(http = embedder()): Promise<ThroughlineError> {
  const thrown: unknown = await http.embed(['one', 'two']).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ThroughlineError)) throw new Error(`it threw ${String(thrown)}`);
  return thrown;
}

describe('the endpoint', () => {
  it.each([
    ['http://h:1', 'http://h:1/v1/embeddings'],
    ['http://h:1/', 'http://h:1/v1/embeddings'],
    ['http://h:1/v1', 'http://h:1/v1/embeddings'],
    ['http://h:1/v1/', 'http://h:1/v1/embeddings'],
    ['https://h/api', 'https://h/api/v1/embeddings'],
    ['https://h/api/v1//', 'https://h/api/v1/embeddings'],
    ['https://h/v1beta/openai/embeddings', 'https://h/v1beta/openai/embeddings'],
    ['https://h/v1?version=2', 'https://h/v1/embeddings?version=2'],
  ])('the endpoint of %s is %s', (base, url) => {
    expect(endpoint(base).href).toBe(url);
  });
});

describe('the embedder of an endpoint', () => {
  it('the HTTP embedder asks as the API wants it, and names provider and model', async () => {
    const http = embedder();
    expect(await http.embed(['one', 'two words'])).toEqual([bagVector('one'), bagVector('two words')]);
    expect(server.requests).toEqual([
      {
        path: '/v1/embeddings',
        authorization: `Bearer ${KEY}`,
        model: 'bag',
        input: ['one', 'two words'],
        encodingFormat: 'float',
      },
    ]);
    expect(http.model).toBe(`${new URL(server.url).host}/bag`);
  });

  it('the HTTP embedder sends no key where there is none', async () => {
    await embedder({ key: undefined, url: `${server.url}/v1` }).embed(['one']);
    expect(server.requests[0]).toMatchObject({ path: '/v1/embeddings', authorization: undefined });
  });

  it('the HTTP embedder asks in batches, and keeps their order', async () => {
    const texts = Array.from({ length: 10 }, (_, n) => `text ${n}`);
    expect(await embedder({ batch: 4 }).embed(texts)).toEqual(texts.map((text) => bagVector(text)));
    expect(server.requests.map(({ input }) => input.length)).toEqual([4, 4, 2]);
  });

  it('the HTTP embedder goes by the index, not by the place in the list', async () => {
    server.next(vectors((items) => items.toReversed()));
    expect(await embedder().embed(['one', 'two', 'three'])).toEqual(
      ['one', 'two', 'three'].map((t) => bagVector(t)),
    );
  });

  it('the HTTP embedder reads base64 as well, bit for bit', async () => {
    server.next(base64);
    expect(await embedder().embed(['one', 'two'])).toEqual([bagVector('one'), bagVector('two')]);
  });

  const wrong: [string, Answer, string][] = [
    ['too few vectors', vectors((items) => items.slice(1)), '1 vectors for 2 texts'],
    [
      'too many vectors',
      vectors((items) => [...items, { index: 2, embedding: [1] }]),
      '3 vectors for 2 texts',
    ],
    ['an index twice', vectors((items) => items.map((item) => ({ ...item, index: 0 }))), 'vector of its own'],
    [
      'an index too high',
      vectors((items) => items.map((item) => ({ ...item, index: 7 }))),
      'vector of its own',
    ],
    ['no index', vectors((items) => items.map(({ embedding }) => ({ embedding }))), 'data.0.index'],
    [
      'a vector of null',
      vectors((items) => items.map((item) => ({ ...item, embedding: [null] }))),
      'data.0.embedding',
    ],
    [
      'an empty vector',
      vectors((items) => items.map((item) => ({ ...item, embedding: [] }))),
      'an empty vector',
    ],
    [
      'a vector of zeros',
      vectors((items) => items.map((item) => ({ ...item, embedding: [0, 0] }))),
      'vector of zeros',
    ],
    [
      'half a float',
      vectors((items) => items.map((item) => ({ ...item, embedding: 'AAA=' }))),
      'an empty vector',
    ],
    [
      'NaN in base64',
      vectors((items) => items.map((item) => ({ ...item, embedding: 'AADAfw==' }))),
      'not a finite number',
    ],
    [
      'a number over all bounds',
      status(200, '{"data":[{"index":0,"embedding":[1e99]},{"index":1,"embedding":[1]}]}'),
      'not a finite number',
    ],
    [
      'different dimensions',
      vectors((items) => items.map((item) => ({ ...item, embedding: Array(item.index + 1).fill(1) }))),
      'of 1 and of 2 numbers',
    ],
    ['no JSON', status(200, 'NaN, says the server'), 'returned no embeddings: the body is not JSON'],
    ['an error with status 200', status(200, '{"error":"no such model"}'), 'returned no embeddings'],
  ];
  it.each(wrong)('the HTTP embedder refuses %s, and does not ask again', async (_, answer, message) => {
    server.next(answer);
    const error = await failure();
    expect(error.code).toBe('unavailable');
    expect(error.message).toContain(message);
    // Vectors of two lengths mean that the model has changed; they say nothing about the texts.
    expect(error instanceof TextsRefusedError).toBe(message !== 'of 1 and of 2 numbers');
    expect(server.requests).toHaveLength(1);
  });

  it('the HTTP embedder refuses batches of different dimensions', async () => {
    server.next(
      vectors(),
      vectors((items) => items, DIMENSION - 1),
    );
    await expect(embedder({ batch: 1 }).embed(['one', 'two'])).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('of 384 and of 383 numbers'),
    });
  });

  const passing: [string, Answer, string][] = [
    ['429', status(429, 'slow down'), 'answered 429: slow down'],
    ['503', status(503, 'loading\nthe model'), 'answered 503: loading the model'],
    ['a lost connection', drop, 'cannot be reached'],
    ['a connection lost in the middle of the answer', dropHalfway, 'cannot be reached'],
  ];
  it.each(passing)(
    'the HTTP embedder says %s, and leaves it to its caller to ask again',
    async (_, answer, message) => {
      server.always(answer);
      expect(await failure()).toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining(message),
      });
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each([
    [400, 'unavailable', 'input too long'],
    [401, 'config_invalid', 'THROUGHLINE_EMBED_KEY'],
    [403, 'config_invalid', 'THROUGHLINE_EMBED_KEY'],
    [404, 'config_invalid', 'THROUGHLINE_EMBED_URL and _MODEL'],
    [408, 'unavailable', 'input too long'],
    [409, 'unavailable', 'input too long'],
    [413, 'unavailable', 'input too long'],
    [422, 'unavailable', 'input too long'],
  ])('the HTTP embedder does not ask again after %i: %s', async (code, error, message) => {
    server.always(status(code, 'input too long'));
    const failed = await failure();
    expect(failed).toMatchObject({ code: error, message: expect.stringContaining(message) });
    // Other texts may be accepted after these codes; after all others, the configuration or something else is wrong.
    expect(failed instanceof TextsRefusedError).toBe([400, 413, 422].includes(code));
    expect(server.requests).toHaveLength(1);
  });

  it('the HTTP embedder keeps its timeout, and hears its caller and its owner, whatever is collected meanwhile', async () => {
    server.always(hang);
    const garbage = new GarbageCollection();
    try {
      const late = embedder({ timeoutMs: 200 });
      await expect(late.embed(['one'])).rejects.toThrow('did not answer within 200 ms');
      const [byCaller, byOwner] = [embedder({ timeoutMs: 60_000 }), embedder({ timeoutMs: 60_000 })];
      const caller = new AbortController();
      const outcomes = Promise.allSettled([byCaller.embed(['one'], caller.signal), byOwner.embed(['one'])]);
      await expect.poll(() => server.requests.length).toBe(3);
      await garbage.rounds(5);
      caller.abort();
      await byOwner.close();
      for (const outcome of await outcomes) {
        expect(outcome).toMatchObject({ reason: { message: expect.stringContaining('was cancelled') } });
      }
    } finally {
      garbage.stop();
    }
  });

  it('the HTTP embedder says that no server listens', async () => {
    const { url } = server;
    await server.stop();
    const error = await failure(embedder({ url }));
    expect(error.message).toContain('cannot be reached');
    expect(error.message).toContain('ECONNREFUSED');
  });

  it('the HTTP embedder shows its key in no error, not even when the server repeats it', async () => {
    const answers = [
      status(401, `wrong key ${KEY}`),
      status(400, JSON.stringify({ error: `Bearer ${KEY}` })),
      status(500, `${'x'.repeat(190)}${KEY}`),
      status(200, KEY),
      drop,
      hang,
    ];
    for (const answer of answers) {
      server.always(answer);
      const error = await failure(embedder({ timeoutMs: 50 }));
      const { message, stack, details } = error;
      expect(JSON.stringify({ message, stack, details, cause: String(error.cause) })).not.toContain(
        KEY.slice(0, 8),
      );
    }
  });

  it('the HTTP embedder does not take its key along to another host', async () => {
    const elsewhere = await startEmbeddingServer();
    const redirecting = createServer((_, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/embeddings` }).end();
    });
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    const address = redirecting.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    await embedder({ url: `http://127.0.0.1:${address.port}` }).embed(['one']);
    expect(elsewhere.requests[0]?.authorization).toBeUndefined();
    redirecting.closeAllConnections();
    redirecting.close();
    await elsewhere.stop();
  });
});
