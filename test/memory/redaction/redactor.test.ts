import { describe, expect, it } from 'vitest';
import {
  secretScanner as real,
  redactJson,
  redactLine,
  redactText,
  type Secret,
  type SecretScanner,
} from '../../../src/memory/redaction/redactor.js';
import { hostileTexts } from '../../support/builders.js';
import * as fc from '../../support/properties.js';
import { leaks, planted } from '../../support/secrets.js';

/** Finds `key-` with digits, and words of capitals. */
const simple: SecretScanner = {
  mayHold: (text) => /key-|[A-Z]{3}/.test(text),
  find: (text) => [...all('key', /key-\d+/g, text), ...all('caps', /[A-Z]{3,}/g, text)],
};

function all(rule: string, pattern: RegExp, text: string): Secret[] {
  return [...text.matchAll(pattern)].map((match) => ({
    rule,
    start: match.index,
    end: match.index + match[0].length,
  }));
}

describe('redactText', () => {
  it.each([
    ['nothing to hide', 'nothing to hide', {}],
    ['key-1 and key-2, ABC', '<redacted:key> and <redacted:key>, <redacted:caps>', { key: 2, caps: 1 }],
    ['key-12ABCD', '<redacted:key><redacted:caps>', { key: 1, caps: 1 }],
    ['', '', {}],
  ])('redactText of %j is %j', (text, value, found) => {
    expect(redactText(text, simple)).toEqual({ value, found });
  });

  it('redactText makes one of secrets that overlap, named by the first', () => {
    const scanner: SecretScanner = {
      mayHold: () => true,
      find: (text) =>
        text.startsWith('abc')
          ? [
              { rule: 'b', start: 2, end: 6 },
              { rule: 'a', start: 1, end: 4 },
              { rule: 'c', start: 6, end: 7 },
            ]
          : [],
    };
    expect(redactText('abcdefgh', scanner)).toEqual({
      value: 'a<redacted:a><redacted:c>h',
      found: { a: 1, c: 1 },
    });
  });

  it('redactText gives the same bytes, and leaves what is redacted as it is', () => {
    const pieces = fc.array(
      fc.oneof(
        planted.map(({ text }) => text),
        hostileTexts,
        fc.constantFrom('://', '@', ':', '"'),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(pieces, fc.constantFrom('', ' ', '\n', ':', '@', '/'), (parts, between) => {
        const { value } = redactText(parts.join(between), real);
        expect(redactText(parts.join(between), real).value).toBe(value);
        expect(redactText(value, real)).toEqual({ value, found: {} });
      }),
      { numRuns: 2000 },
    );
  });
});

describe('redactJson', () => {
  it('redactJson redacts strings wherever they stand, and counts them', () => {
    const value = { a: 'key-1', b: [{ c: 'x key-2' }, 'ABC', 7, null, true], n: 1e21 };
    expect(redactJson(value, simple)).toEqual({
      value: {
        a: '<redacted:key>',
        b: [{ c: 'x <redacted:key>' }, '<redacted:caps>', 7, null, true],
        n: 1e21,
      },
      found: { key: 2, caps: 1 },
    });
  });

  it('redactJson leaves the names of things as they are', () => {
    const names = {
      session: 'key-1',
      task_id: 'key-2',
      result_id: 'key-2',
      taskId: 'key-3',
      id: 'key-4',
      intent_id: 'key-5',
      dependsOn: 'key-6',
    };
    expect(redactJson({ ...names }, simple)).toEqual({ value: names, found: {} });
  });

  it('redactJson goes as deep as a body may be nested', () => {
    const deep = `${'['.repeat(100_000)}"key-1"${']'.repeat(100_000)}`;
    expect(redactJson(JSON.parse(deep), simple).found).toEqual({ key: 1 });
  });

  it('redactJson changes nothing but strings: the shape of any JSON stays', () => {
    const shape = (json: unknown): unknown =>
      JSON.parse(JSON.stringify(json), (_, each) => (typeof each === 'string' ? '' : each));
    fc.assert(
      fc.property(fc.jsonValue(), planted, (json, { text, secret }) => {
        const body = { json, kept: { text }, list: [text] };
        const { value } = redactJson(structuredClone(body), real);
        expect(shape(value)).toEqual(shape(body));
        expect(leaks(JSON.stringify(value), secret.split('\n')[0] ?? '')).toBe(false);
      }),
    );
  });
});

describe('redactLine', () => {
  it('redactLine gives JSON of one line, names of things included', () => {
    const line = `${JSON.stringify({ level: 30, session: 'key-1', err: { message: 'got "key-2"' } })}\n`;
    expect(redactLine(line, simple)).toBe(
      '{"level":30,"session":"<redacted:key>","err":{"message":"got \\"<redacted:key>\\""}}\n',
    );
  });
});
