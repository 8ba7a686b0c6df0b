/** Counts tokens. An implementation must be pure, and must return 0 for an empty text only. */
export interface Tokenizer {
  readonly name: string;
  count(text: string): number;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the first of all characters
const ASCII = /^[\u0000-\u007f]*$/;
const BEYOND_ASCII = /\P{ASCII}+/gu;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/**
 * Four characters a token, and one token per Chinese, Japanese or Korean character: close enough for English and code,
 * and fast.
 */
export const approximateTokenizer: Tokenizer = {
  name: 'approximate',
  count: (text) => {
    if (ASCII.test(text)) return Math.ceil(text.length / 4);
    // Skipping ASCII first is faster for long text.
    const dense = (text.match(BEYOND_ASCII) ?? []).join('').match(CJK) ?? [];
    const units = dense.reduce((sum, character) => sum + character.length, 0);
    return dense.length + Math.ceil((text.length - units) / 4);
  },
};
