import { messageOf, ThroughlineError } from '../contracts/errors.js';
import type { TokenizerName } from '../contracts/session-meta-events.js';
import { approximateTokenizer, type Tokenizer } from '../shared/tokenizer.js';

type Vocabulary = Pick<typeof import('gpt-tokenizer/encoding/o200k_base'), 'countTokens'>;

const PACKAGE = 'gpt-tokenizer';

/**
 * The tokenizer of this name. The exact one comes from a package of many megabytes, which is optional.
 *
 * @param load that package: it is loaded only here
 * @throws ThroughlineError `config_invalid` when it is not installed
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
  // Text that spells a special token is text here.
  const options = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
  return {
    name,
    count: (text) => pieces(text).reduce((sum, piece) => sum + countTokens(piece, options), 0),
  };
}

const LONG_RUN = /(?<!\S)\S{1000}|(?<!\s)\s{1000}/u;
const PIECE = /\s{0,1000}\S{1,1000}|\s{1,1000}/gu;

/**
 * The text, whole unless it holds a run without white space, or of nothing else, that no prose and no code has. The
 * time for such a run grows with the square of its length: it is counted in pieces, which gives a few tokens more.
 */
function pieces(text: string): readonly string[] {
  return LONG_RUN.test(text) ? (text.match(PIECE) ?? []) : [text];
}
