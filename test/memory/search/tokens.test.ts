import { describe, expect, it } from 'vitest';
import { isRoutine, plainWords, tokens } from '../../../src/memory/search/tokens.js';
import * as fc from '../../support/properties.js';

describe('tokens', () => {
  it.each([
    ['group?', ['group']],
    ['What is "group"!?', ['group']],
    ['parseHTTPHeader', ['pars', 'http', 'header', 'parsehttpheader']],
    ['sha256 sum', ['sha', '256', 'sha256', 'sum']],
    ['e2e K8s i18n v2', ['e2e', 'k8s', 'i18n', 'v2']],
    ['runE2eTests', ['run', 'e2e', 'test', 'rune2etests']],
    ['rate_limiter.test.ts', ['rate', 'limit', 'test', 'ts']],
    ['Überprüfung größer', ['überprüfung', 'größer']],
    ['Ошибка входа', ['ошибка', 'входа']],
    ['ｆｕｌｌ ｗｉｄｔｈ', ['full', 'width']],
    ['', []],
    ['?!… — 😀', []],
  ])('the tokens of %j are its words', (text, expected) => {
    expect(tokens(text)).toEqual(expected);
  });

  it('words of one stem are one token, but for words of up to three letters', () => {
    expect(tokens('the connection, connected connecting')).toEqual(['connect']);
    expect(tokens('ids bus ids')).toEqual(['ids', 'bus']);
  });

  it('Chinese, Japanese and Korean texts are their pairs of neighbouring characters', () => {
    expect(tokens('修复登录 bug')).toEqual(['修复', '复登', '登录', 'bug']);
    expect(tokens('ログ')).toEqual(['ログ']);
    expect(tokens('로그인')).toEqual(['로그', '그인']);
    expect(tokens('用v2版')).toEqual(['用', 'v2', '版']);
  });

  it.each([
    ['fix(router): slow match', ['<fix>', 'router', 'slow', 'match']],
    ['Fixed router', ['<fix>', 'router']],
    ['[FIX] router', ['<fix>', 'router']],
    ['feat!: router', ['<feat>', 'router']],
    ['Add router', ['<feat>', 'router']],
    ['router: add', ['router', 'add']],
    ['fixtures of the router', ['fixtur', 'router']],
    ['test.ts of the router', ['test', 'ts', 'router']],
  ])('the type of a commit and a leading verb are one token: %j', (text, expected) => {
    expect(tokens(text)).toEqual(expected);
  });

  it('a text gives no more tokens than asked for, each once, none with a space', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.nat(20), (text, most) => {
        const found = tokens(text, most);
        expect(found.length).toBeLessThanOrEqual(most);
        expect(new Set(found).size).toBe(found.length);
        const wrong = found.filter((token) => !/^[\p{L}\p{N}\p{M}<>]{1,40}$/u.test(token));
        expect(wrong).toEqual([]);
        expect(tokens(text).slice(0, most)).toEqual(found);
      }),
    );
  });
});

describe('plain words', () => {
  it('plain words keep stop words, order and repetitions', () => {
    expect(plainWords('The Rate-Limiter and the #12 rate')).toEqual([
      ...['the', 'rate', 'limiter', 'and', 'the', 'rate'],
    ]);
    expect(plainWords('a b c', 2)).toEqual(['a', 'b']);
  });
});

describe('a routine', () => {
  it.each([
    ['Release 6.0.5', true],
    ['Bumped v5.3.1', true],
    ['chore(deps): bump the all group with 6 updates (#2729)', true],
    ['fix(deps): update dependency vite to v6.2.7 [security] (#6735)', true],
    ["Merge branch 'main' into fork", true],
    ['Lint fixes', true],
    ['Update sigstore-go in gh CLI to v0.5.1 (#9366)', true],
    ['Ran cog', true],
    ['[BUMP] client version to 1.21.0', true],
    ['Release the lock when the worker stops', false],
    ['Format numbers with the locale', false],
    ['fix: merge the headers of both requests', false],
    ['Update the parser to read tabs', false],
  ])('the summary %j is one: %s', (summary, expected) => {
    expect(isRoutine(summary)).toBe(expected);
  });
});
