import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf, ThroughlineError } from '../contracts/errors.js';

/** A sentence model on this machine, as it must be loaded. */
export interface ModelDir {
  /** Absolute: a relative path would be taken for the name of a model on a hub. */
  readonly dir: string;
  /** Where the ONNX file lies: `onnx`, or the directory itself. */
  readonly subfolder: '' | 'onnx';
  /** Without `.onnx`. */
  readonly file: string;
  readonly pooling: 'mean' | 'cls';
  /** Tells this model from others: directory, file and size. */
  readonly name: string;
}

/** Preferred in this order: full precision first, as a model was trained. */
const PREFERRED = ['model', 'model_fp16', 'model_quantized', 'model_int8'];
const NEEDED = ['config.json', 'tokenizer.json', 'tokenizer_config.json'];

const poolingConfig = z.object({
  pooling_mode_cls_token: z.boolean().default(false),
  pooling_mode_mean_tokens: z.boolean().default(false),
});

/**
 * Looks into a model directory.
 *
 * @throws ThroughlineError `config_invalid` that says what is missing
 */
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

/** How the model was trained to make one vector of many: mean, unless its own files say otherwise. */
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
