import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TextsRefusedError } from '../../../src/contracts/errors.js';
import { openLocalEmbedder, readModelDir } from '../../../src/engine/embedding/local-embedder.js';
import type { Embedder } from '../../../src/engine/ports/vector-store.js';

type Library = typeof import('@huggingface/transformers');

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'throughline-model-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const USUAL = { 'config.json': '{}', 'tokenizer.json': '{}', 'tokenizer_config.json': '{}' };

async function dirWith(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(join(root, 'model-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  return dir;
}

describe('a model directory', () => {
  it.each([
    [['onnx/model.onnx', 'onnx/model_quantized.onnx'], { subfolder: 'onnx', file: 'model' }],
    [['onnx/model_quantized.onnx', 'model.onnx'], { subfolder: '', file: 'model' }],
    [['onnx/model_quantized.onnx'], { subfolder: 'onnx', file: 'model_quantized' }],
    [['any-name.onnx'], { subfolder: '', file: 'any-name' }],
  ])('a model directory with %j is loaded from %j', async (names, expected) => {
    const dir = await dirWith({ ...USUAL, ...Object.fromEntries(names.map((name) => [name, 'onnx'])) });
    expect(await readModelDir(dir)).toMatchObject({ dir, ...expected, pooling: 'mean' });
  });

  it('a model directory names its model by file and size', async () => {
    const [small, large] = [
      await dirWith({ ...USUAL, 'model.onnx': '1' }),
      await dirWith({ ...USUAL, 'model.onnx': '12' }),
    ];
    expect((await readModelDir(small)).name).toMatch(/^local\/model-\w+\/model\.onnx:1$/);
    expect((await readModelDir(large)).name).toMatch(/model\.onnx:2$/);
  });

  it.each([
    ['{"pooling_mode_mean_tokens":true,"pooling_mode_cls_token":false}', 'mean'],
    ['{"pooling_mode_mean_tokens":false,"pooling_mode_cls_token":true}', 'cls'],
  ])('a model directory says how the model pools: %s', async (config, pooling) => {
    const dir = await dirWith({ ...USUAL, 'onnx/model.onnx': '', '1_Pooling/config.json': config });
    expect(await readModelDir(dir)).toMatchObject({ pooling });
  });

  it.each<[Readonly<Record<string, string>>, string]>([
    [{ 'onnx/model.onnx': '', 'config.json': '{}' }, 'lacks tokenizer.json and tokenizer_config.json'],
    [USUAL, 'holds no .onnx file'],
    [
      { ...USUAL, 'model.onnx': '', '1_Pooling/config.json': '{"pooling_mode_max_tokens":true}' },
      'other than mean',
    ],
    [{ ...USUAL, 'model.onnx': '', '1_Pooling/config.json': 'mean' }, 'cannot be read'],
  ])('a model directory with %j is refused: %s', async (files, message) => {
    await expect(readModelDir(await dirWith(files))).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(message),
    });
  });
});

/** Replaces the library where it is not installed; records requests and returns vectors that differ by text. */
function recordingLibrary(give: (text: string) => number[] = (text) => [text.length, 1]) {
  const asked: unknown[] = [];
  const env = { allowRemoteModels: true, allowLocalModels: false };
  const extract = async (texts: string[], options: unknown) => {
    asked.push([texts, options]);
    const data = texts.flatMap(give);
    return { dims: [texts.length, data.length / texts.length], data };
  };
  const dispose = async () => asked.push('dispose');
  const library: Library = {
    env,
    pipeline: async (...opened) => {
      asked.push(opened, { ...env });
      return Object.assign(extract, { dispose });
    },
  };
  return { asked, load: async () => library };
}

describe('the local embedder', () => {
  it('the local embedder loads from the directory alone, asks for pooled vectors of length 1, and disposes of the model', async () => {
    const dir = await dirWith({ ...USUAL, 'onnx/model_quantized.onnx': '' });
    const { asked, load } = recordingLibrary();
    const embedder = await openLocalEmbedder({ dir }, load);
    expect(await embedder.embed(['a', 'four'])).toEqual([Float32Array.of(1, 1), Float32Array.of(4, 1)]);
    await embedder.close();
    const options = { pooling: 'mean', normalize: true };
    expect(asked).toEqual([
      [
        'feature-extraction',
        dir,
        { local_files_only: true, subfolder: 'onnx', model_file_name: 'model_quantized', dtype: 'fp32' },
      ],
      { allowRemoteModels: false, allowLocalModels: true },
      [['a'], options],
      [['four'], options],
      'dispose',
    ]);
  });

  it('the local embedder lets other work pass between two texts, and ends when no caller waits any more', async () => {
    const { asked, load } = recordingLibrary();
    const embedder = await openLocalEmbedder({ dir: await dirWith({ ...USUAL, 'model.onnx': '' }) }, load);
    const caller = new AbortController();
    const embedding = embedder.embed(['a', 'b', 'c', 'd'], caller.signal);
    setImmediate(() => caller.abort());
    await expect(embedding).rejects.toMatchObject({ code: 'unavailable' });
    expect(asked.length).toBeLessThan(2 + 4);
    await embedder.close();
    await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each([
    ['zeros', [0, 0]],
    ['NaN', [Number.NaN]],
    ['nothing', []],
  ])('the local embedder refuses %s as a vector', async (_, vector) => {
    const { load } = recordingLibrary(() => vector);
    const embedder = await openLocalEmbedder({ dir: await dirWith({ ...USUAL, 'model.onnx': '' }) }, load);
    await expect(embedder.embed(['a'])).rejects.toThrow(TextsRefusedError);
  });

  it('the local embedder says which package it needs, and how to get it', async () => {
    const dir = await dirWith({ ...USUAL, 'model.onnx': '' });
    const load = () => Promise.reject(new Error('Cannot find package'));
    await expect(openLocalEmbedder({ dir }, load)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(/THROUGHLINE_EMBED_MODEL .*"npm install @huggingface\/transformers"/),
    });
  });
});

/**
 * Uses the real library and a real model if both are present: the library installed beside the code or at
 * THROUGHLINE_TEST_TRANSFORMERS (a folder with node_modules), and a copy of all-MiniLM-L6-v2, or any other English
 * sentence model, at THROUGHLINE_TEST_EMBED_DIR.
 */
const realDir = process.env.THROUGHLINE_TEST_EMBED_DIR;
const reason = 'needs a model at THROUGHLINE_TEST_EMBED_DIR, and @huggingface/transformers';

describe.skipIf(realDir === undefined)(`the local embedder with a real model (${reason})`, () => {
  let embedder: Embedder;
  let library: Library;
  beforeAll(async () => {
    const from = process.env.THROUGHLINE_TEST_TRANSFORMERS ?? process.cwd();
    const main = createRequire(join(from, 'package.json')).resolve('@huggingface/transformers');
    library = await import(/* @vite-ignore */ pathToFileURL(main).href);
    embedder = await openLocalEmbedder({ dir: realDir ?? '' }, async () => library);
  });
  afterAll(() => embedder.close());

  const cosine = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

  it('a real model brings texts of similar meaning together without a common word', async () => {
    const [query, near, far] = await embedder.embed([
      'What to do when something goes wrong',
      'Handle errors explicitly, never swallow exceptions',
      'Use two spaces for indentation in YAML files',
    ]);
    if (!query || !near || !far) throw new Error('a vector is missing');
    expect(cosine(query, near)).toBeGreaterThan(cosine(query, far) + 0.1);
    for (const vector of [query, near, far]) expect(cosine(vector, vector)).toBeCloseTo(1, 5);
  });

  it('a real model gives a text the same vector, bit for bit, whatever is asked for with it', async () => {
    const [alone] = await embedder.embed(['retry with a pause']);
    const among = await embedder.embed(['a', 'retry with a pause', 'a much longer text '.repeat(50)]);
    expect(among[1]).toEqual(alone);
  });

  it('a real model pools by the mean of all tokens', async () => {
    const { subfolder, file, dir } = await readModelDir(realDir ?? '');
    const options = { local_files_only: true, subfolder, model_file_name: file, dtype: 'fp32' };
    const extract = await library.pipeline('feature-extraction', dir, options);
    // Without pooling the library returns a vector per token.
    const unpooled: Parameters<typeof extract>[1] = JSON.parse('{"pooling":"none","normalize":false}');
    const { dims, data } = await extract(['retry with a pause'], unpooled);
    const [, tokens = 0, dimension = 0] = dims;
    expect(tokens).toBeGreaterThan(4);
    const mean = Float32Array.from({ length: dimension }, (_, i) => {
      let sum = 0;
      for (let token = 0; token < tokens; token += 1) sum += data[token * dimension + i] ?? 0;
      return sum / tokens;
    });
    const norm = Math.sqrt(cosine(mean, mean));
    const [vector] = await embedder.embed(['retry with a pause']);
    expect(vector?.length).toBe(dimension);
    for (const [i, value] of mean.entries()) expect(vector?.[i]).toBeCloseTo(value / norm, 5);
    await extract.dispose();
  });

  it('a real model reads no more of a text than it can, and fails at nothing', async () => {
    const [long] = await embedder.embed(['word '.repeat(5000)]);
    expect(long?.every(Number.isFinite)).toBe(true);
  });
});
