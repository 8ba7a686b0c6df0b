import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { FeatureExtractor } from '@huggingface/transformers';
import { z } from 'zod';
import { messageOf, TextsRefusedError, ThroughlineError } from '../../contracts/errors.js';
import type { Embedder } from '../ports/vector-store.js';
import type { LocalEmbedderOptions } from './embedder-options.js';
import { vectorFault } from './http-embedder.js';

type Library = typeof import('@huggingface/transformers');

const PACKAGE = '@huggingface/transformers';

/**
 * Loads an embedding model from a directory, and from nowhere else, and runs it in this process.
 *
 * The model computes synchronously, some milliseconds per text. Texts are embedded one at a time with a turn of the event
 * loop in between, so that requests are still answered; this also makes a vector independent of its batch.
 *
 * @param load imports the package that runs the model, which is optional
 * @throws ThroughlineError `config_invalid` if the package is not installed or the directory holds no such model
 */
export async function openLocalEmbedder(
  { dir }: Omit<LocalEmbedderOptions, 'kind'>,
  load: () => Promise<Library> = () => import('@huggingface/transformers'),
): Promise<Embedder> {
  const model = await readModelDir(dir);
  const { env, pipeline } = await loaded(load);
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  let extract: FeatureExtractor;
  try {
    extract = await pipeline('feature-extraction', model.dir, {
      local_files_only: true,
      subfolder: model.subfolder,
      model_file_name: model.file,
      // The file name is complete: any other precision would add a suffix to it.
      dtype: 'fp32',
    });
  } catch (error) {
    throw new ThroughlineError(
      'config_invalid',
      `THROUGHLINE_EMBED_MODEL: ${model.dir} cannot be loaded: ${messageOf(error)}`,
      { cause: error },
    );
  }
  return localEmbedder(model, extract);
}

function localEmbedder({ name, pooling }: ModelDir, extract: FeatureExtractor): Embedder {
  const closed = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const one = async (text: string): Promise<Float32Array> => {
    const { dims, data } = await extract([text], { pooling, normalize: true });
    const vector = Float32Array.from(data);
    const fault =
      dims.at(-1) === vector.length ? vectorFault(vector) : 'something other than a single vector';
    if (fault !== undefined) throw new TextsRefusedError(`${name} returned ${fault}`);
    return vector;
  };
  const all = async (texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      if (closed.signal.aborted || signal?.aborted) {
        throw new ThroughlineError('unavailable', `${name} was cancelled`);
      }
      vectors.push(await one(text));
      await turn();
    }
    return vectors;
  };
  return {
    model: name,
    async embed(texts, signal) {
      const work = all(texts, signal);
      running = Promise.allSettled([running, work]);
      try {
        return await work;
      } catch (error) {
        if (error instanceof ThroughlineError) throw error;
        throw new TextsRefusedError(`${name} failed: ${messageOf(error)}`, { cause: error });
      }
    },
    async close() {
      closed.abort();
      // The model must not be disposed while it computes.
      await running;
      await extract.dispose();
    },
  };
}

async function loaded(load: () => Promise<Library>): Promise<Library> {
  try {
    return await load();
  } catch (error) {
    throw new ThroughlineError(
      'config_invalid',
      `THROUGHLINE_EMBED_MODEL without THROUGHLINE_EMBED_URL needs the package ${PACKAGE}, which cannot be loaded: install it beside throughline ` +
        `with "npm install ${PACKAGE}" (${messageOf(error)})`,
      { cause: error },
    );
  }
}

interface ModelDir {
  /** Absolute: a relative path would be read as the name of a model on a hub. */
  readonly dir: string;
  readonly subfolder: '' | 'onnx';
  /** Without `.onnx`. */
  readonly file: string;
  readonly pooling: 'mean' | 'cls';
  /** Identifies the model: directory, file and size. */
  readonly name: string;
}

/** In order of preference: full precision first. */
const PREFERRED = ['model', 'model_fp16', 'model_quantized', 'model_int8'];
const NEEDED = ['config.json', 'tokenizer.json', 'tokenizer_config.json'];

const poolingConfig = z.object({
  pooling_mode_cls_token: z.boolean().default(false),
  pooling_mode_mean_tokens: z.boolean().default(false),
});

/** Finds the model in a directory. Throws ThroughlineError `config_invalid` that says what is missing. */
export async function readModelDir(given: string): Promise<ModelDir> {
  const dir = resolve(given);
  const files = await filesOf(dir);
  if (files === undefined) throw invalid(dir, 'is not a readable directory');
  const missing = NEEDED.filter((name) => !files.includes(name));
  if (missing.length > 0) throw invalid(dir, `lacks ${missing.join(' and ')}`);
  const found = [
    ...onnxFiles('onnx', (await filesOf(join(dir, 'onnx'))) ?? []),
    ...onnxFiles('', files),
  ].sort((a, b) => rank(a.file) - rank(b.file));
  const [best] = found;
  if (best === undefined) throw invalid(dir, 'holds no .onnx file, and neither does its folder onnx/');
  const { size } = await stat(join(dir, best.subfolder, `${best.file}.onnx`));
  const name = `local/${basename(dir)}/${best.file}.onnx:${size}`;
  return { dir, ...best, pooling: await poolingOf(dir), name };
}

/** Returns the pooling that the model was trained with: mean, unless its own files say otherwise. */
async function poolingOf(dir: string): Promise<ModelDir['pooling']> {
  const file = join(dir, '1_Pooling', 'config.json');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    return 'mean';
  }
  let config: z.output<typeof poolingConfig>;
  try {
    config = poolingConfig.parse(JSON.parse(text));
  } catch (error) {
    throw invalid(file, `cannot be read: ${messageOf(error)}`);
  }
  if (config.pooling_mode_mean_tokens) return 'mean';
  if (config.pooling_mode_cls_token) return 'cls';
  throw invalid(file, 'asks for a pooling other than mean or cls');
}

function onnxFiles(subfolder: ModelDir['subfolder'], files: readonly string[]) {
  return files
    .filter((name) => name.endsWith('.onnx'))
    .sort()
    .map((name) => ({ subfolder, file: name.slice(0, -'.onnx'.length) }));
}

function rank(file: string): number {
  const place = PREFERRED.indexOf(file);
  return place === -1 ? PREFERRED.length : place;
}

async function filesOf(dir: string): Promise<string[] | undefined> {
  return readdir(dir).catch(() => undefined);
}

function invalid(path: string, fault: string): ThroughlineError {
  return new ThroughlineError(
    'config_invalid',
    `THROUGHLINE_EMBED_MODEL: ${path} ${fault}: name a directory with ${NEEDED.join(', ')} and onnx/model.onnx`,
  );
}
