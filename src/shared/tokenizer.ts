/** Counts tokens. An implementer must be pure, and must give 0 for an empty text only. */
export interface Tokenizer {
  readonly name: string;
  count(text: string): number;
}

/** Four characters a token: near enough for English and code, and free. */
export const approximateTokenizer: Tokenizer = {
  name: 'approximate',
  count: (text) => Math.ceil(text.length / 4),
};
