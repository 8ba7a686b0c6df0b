import { approximateTokenizer, type Tokenizer } from '../prompt/tokenizer.js';
import type { TokenizerName } from './names.js';

/** The tokenizer of this name. The exact one brings its vocabulary of several megabytes, so it is loaded only when asked for. */
export async function loadTokenizer(name: TokenizerName): Promise<Tokenizer> {
  if (name === 'approximate') return approximateTokenizer;
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
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
