import { describe, expect, it } from 'vitest';
import { loadEmbedder } from '../../../src/engine/embedding/load-embedder.js';

describe('loading the embedder', () => {
  it('loading the embedder gives none where none is asked for', async () => {
    expect(await loadEmbedder(undefined)).toBeUndefined();
  });

  it('loading the embedder gives that of an endpoint without asking it', async () => {
    const options = {
      kind: 'http',
      url: 'http://127.0.0.1:9',
      model: 'm',
      key: undefined,
      timeoutMs: 1,
      batch: 1,
    } as const;
    const embedder = await loadEmbedder(options);
    expect(embedder?.model).toBe('127.0.0.1:9/m');
    await embedder?.close();
  });

  it('loading the embedder refuses a directory without a model', async () => {
    await expect(loadEmbedder({ kind: 'local', dir: '/nowhere' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('THROUGHLINE_EMBED_MODEL: /nowhere is not a readable directory'),
    });
  });
});
