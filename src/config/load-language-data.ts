import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf, ThroughlineError } from '../contracts/errors.js';
import type { TokenizerName } from '../contracts/session-meta-events.js';
import { builtFolder } from '../engine/files/user-state.js';
import type { Logger } from '../engine/ports/logger-and-clock.js';
import { WordVectors } from '../memory/search/word-vectors.js';
import { approximateTokenizer, type Tokenizer } from '../shared/text.js';

type Vocabulary = Pick<typeof import('gpt-tokenizer/encoding/o200k_base'), 'countTokens'>;

const PACKAGE = 'gpt-tokenizer';

/**
 * Loads a tokenizer by name. The exact one is in an optional package of many megabytes.
 *
 * @param load imports that package only when needed
 * @throws ThroughlineError `config_invalid` if it is not installed
 */
export async function loadTokenizer(
  name: TokenizerName,
  load: () => Promise<Vocabulary> = () => import('gpt-tokenizer/encoding/o200k_base'),
): Promise<Tokenizer> {
  if (name === 'approximate') return approximateTokenizer;
  const { countTokens } = await load().catch((cause: unknown) => {
    throw new ThroughlineError(
      'config_invalid',
      `the tokenizer ${name} needs the package ${PACKAGE}, which cannot be loaded: install it beside ` +
        `throughline with "npm install ${PACKAGE}" (${messageOf(cause)})`,
      { cause },
    );
  });
  // Text that spells a special token is ordinary text.
  const options = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
  return {
    name,
    count: (text) => pieces(text).reduce((sum, piece) => sum + countTokens(piece, options), 0),
  };
}

const LONG_RUN = /(?<!\S)\S{1000}|(?<!\s)\s{1000}/u;
const PIECE = /\s{0,1000}\S{1,1000}|\s{1,1000}/gu;

/**
 * Splits text with runs of characters, or of blanks, longer than in prose or code: the tokenizer is quadratic in such
 * runs. The pieces give a few tokens more.
 */
function pieces(text: string): readonly string[] {
  return LONG_RUN.test(text) ? (text.match(PIECE) ?? []) : [text];
}

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
