import { setImmediate as turn } from 'node:timers/promises';
import type { FeatureExtractor } from '@huggingface/transformers';
import { messageOf, TextsRefusedError, ThroughlineError } from '../contracts/errors.js';
import type { Embedder } from '../ports/embedder.js';
import type { LocalEmbedderOptions } from './embedder-options.js';
import { vectorFault } from './embedding-reply.js';
import { type ModelDir, readModelDir } from './model-dir.js';

type Library = typeof import('@huggingface/transformers');

const PACKAGE = '@huggingface/transformers';

/**
 * Vectors from a model that runs in this process, loaded from a directory and from nowhere else.
 *
 * The model computes on the thread that asks, some milliseconds a text: texts go one at a time, with a turn of the
 * event loop in between, so that requests are answered meanwhile. It also makes a vector independent of the texts
 * that were asked for with it.
 *
 * @param load the package that runs the model, which is optional: it is loaded only here
 * @throws ThroughlineError `config_invalid` when the package is not installed or the directory holds no such model
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
      // The file is named in full: any other precision would add a suffix to it.
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
    if (fault !== undefined) throw new TextsRefusedError(`${name} gave ${fault}`);
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
      // A model must not be taken away while it computes.
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
