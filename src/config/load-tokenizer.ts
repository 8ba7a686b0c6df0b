import { messageOf, ThroughlineError } from '../contracts/errors.js';
import type { TokenizerName } from '../contracts/session-meta-events.js';
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
