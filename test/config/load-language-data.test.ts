import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../src/config/load-language-data.js';
import { approximateTokenizer } from '../../src/shared/text.js';
import { cpuMs } from '../support/cpu-time.js';

describe('the approximate tokenizer', () => {
  it('the approximate tokenizer is the one that counts four characters a token, and the last ones too', async () => {
    expect(await loadTokenizer('approximate')).toBe(approximateTokenizer);
    expect(['', 'a', 'abcd', 'abcde'].map(approximateTokenizer.count)).toEqual([0, 1, 1, 2]);
  });
});

describe('the exact tokenizer', async () => {
  it('the exact tokenizer names the command that installs its package where that is missing', async () => {
    const missing = () => Promise.reject(new Error("Cannot find package 'gpt-tokenizer'"));
    await expect(loadTokenizer('o200k_base', missing)).rejects.toMatchObject({
      code: 'config_invalid',
      message:
        'the tokenizer o200k_base needs the package gpt-tokenizer, which cannot be loaded: install it beside ' +
        'throughline with "npm install gpt-tokenizer" (Cannot find package \'gpt-tokenizer\')',
    });
  });

  const exact = await loadTokenizer('o200k_base');

  it.each([
    ['nothing', '', 0],
    ['words', 'hello world', 2],
    ['the name of a special token', '<|endoftext|>', 7],
    ['Chinese', '检查边界。', 4],
  ])('the exact tokenizer counts this text: %s', (_what, text, tokens) => {
    expect(exact.count(text)).toBe(tokens);
  });

  it('the exact tokenizer counts whole texts as its vocabulary does', () => {
    const text = 'Make `read()` return every line.\n\n  - never drop the last one (1.2)\n必须检查。\n'.repeat(
      300,
    );
    expect(exact.count(text)).toBe(countTokens(text));
  });

  it.each([
    ['letters', 'a'.repeat(100_000)],
    ['characters without spaces', '漢字テスト'.repeat(20_000)],
    ['white space', ' '.repeat(100_000)],
    ['astral characters', '😀'.repeat(50_000)],
  ])('the exact tokenizer counts a run of very many %s soon, and not less than it is', (_what, text) => {
    let tokens = 0;
    const took = cpuMs(() => {
      tokens = exact.count(`before ${text} after`);
    });
    expect(took).toBeLessThan(2000);
    // What the vocabulary says of a part that it can count at once.
    expect(tokens).toBeGreaterThanOrEqual(countTokens(text.slice(0, 1000)) * (text.length / 1000) * 0.9);
    expect(tokens).toBeLessThanOrEqual(text.length * 2);
  });
});
