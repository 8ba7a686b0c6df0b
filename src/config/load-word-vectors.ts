import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, ThroughlineError } from '../contracts/errors.js';
import { builtFolder } from '../engine/files/user-state.js';
import type { Logger } from '../engine/ports/logger-and-clock.js';
import { WordVectors } from '../memory/search/word-vectors.js';

/** Returns the table of word vectors; `undefined` if it cannot be read, so that words alone decide. */
export type WordVectorsLoader = () => Promise<WordVectors | undefined>;

/** Reads the table with the first call: a process that compiles nothing does not need its 8 MB. */
export function wordVectorsLoader(logger: Logger, folder = builtFolder('words')): WordVectorsLoader {
  let loaded: Promise<WordVectors | undefined> | undefined;
  const load = async () => {
    try {
      if (folder === undefined) throw new ThroughlineError('unavailable', 'the package has no word vectors');
      return new WordVectors(await readFile(join(folder, 'word-vectors.bin')));
    } catch (error) {
      logger.warn({ code: codeOf(error), err: error }, 'word vectors not loaded: words alone decide');
      return undefined;
    }
  };
  return () => {
    loaded ??= load();
    return loaded;
  };
}
