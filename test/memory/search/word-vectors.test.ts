import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cosine, WordVectors } from '../../../src/memory/search/word-vectors.js';

const FOLDER = new URL('../../../scripts/words/', import.meta.url);
const TABLE = readFileSync(new URL('word-vectors.bin', FOLDER));
const WORDS = new WordVectors(TABLE);
const VERSION = 'minilm-l6-256/1';

function likeness(one: string, other: string): number {
  const [a, b] = [WORDS.of(one), WORDS.of(other)];
  return a === undefined || b === undefined ? Number.NaN : cosine(a, b);
}

describe('the table of word vectors', () => {
  it('a name always stands for the same bytes: a table that is made again gets another name', () => {
    expect(WORDS.version).toBe(VERSION);
    expect(createHash('sha256').update(TABLE).digest('hex')).toBe(
      '555de7c0d1ac72cf8eedc14003b4aca4dde1ebf138639855ab12163720325db2',
    );
    expect(TABLE.length).toBeLessThan(8_000_000);
  });

  it('the script pins its two packages by hash, and makes a table of this name', () => {
    const pinned = readFileSync(new URL('requirements.txt', FOLDER), 'utf8');
    expect(pinned.match(/^[a-z0-9-]+==[\d.]+ --hash=sha256:[0-9a-f]{64}$/gm)).toHaveLength(2);
    expect(readFileSync(new URL('make.py', FOLDER), 'utf8')).toContain(`NAME = "${VERSION}"`);
  });

  it.each([
    ['a table that is cut off', TABLE.subarray(0, -1)],
    ['a table with a flipped bit', TABLE.map((byte, at) => (at === 5_000_000 ? byte ^ 1 : byte))],
    ['a table without a header', TABLE.subarray(1000)],
    ['no table', Buffer.alloc(0)],
  ])('%s is refused', (_, table) => {
    expect(() => new WordVectors(table)).toThrow(RangeError);
  });
});

describe('the vector of a text', () => {
  it('texts of similar meaning have similar vectors without a word in common', () => {
    const query = 'Someone may inject SQL through the filter box';
    const near = likeness('use a parameterised statement for the lookup', query);
    expect(near).toBeGreaterThan(likeness('the thermostat rounds to half degrees', query));
    expect(likeness(query, query)).toBeCloseTo(1, 5);
  });

  it('a vector is the same bits on every machine', () => {
    const { scale, values } = WORDS.of('Retry the payment webhook with backoff') ?? expect.unreachable();
    const bits = createHash('sha256').update(values).update(String(scale)).digest('hex');
    expect(bits.slice(0, 16)).toBe('5e49b47c39346751');
  });

  it('case, accents and the spelling of an identifier make no difference', () => {
    expect(WORDS.of('PARSE Café')).toEqual(WORDS.of('parse cafe'));
    expect(WORDS.of('openFileHandle2')).toEqual(WORDS.of('open file handle 2'));
    expect(WORDS.of('open the file (#2712)')).toEqual(WORDS.of('open the file'));
  });

  it('a word that is not in the table is composed of its pieces, beside words that are', () => {
    expect(likeness('open the foobarium file', 'open the foo bar file')).toBeGreaterThan(0.5);
  });

  it.each([
    'Wir speichern Sitzungen in Redis statt in Postgres',
    'Пароли хранятся в виде хеша',
    '検索の設定を確かめる',
    'pgbouncer foobarium',
    '?!',
    '',
  ])('%j has no vector: most of its words are not in the table', (text) => {
    expect(WORDS.of(text)).toBeUndefined();
    expect(WORDS.of(text)).toBeUndefined();
  });
});
