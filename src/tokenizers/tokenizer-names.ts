/** Tokenizers that the configuration can choose. */
export const TOKENIZERS = ['approximate', 'o200k_base'] as const;
export type TokenizerName = (typeof TOKENIZERS)[number];
