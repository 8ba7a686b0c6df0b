import { readFileSync } from 'node:fs';
import * as fc from './properties.js';

/** Made-up secrets in every form that is redacted: none of them ever opened anything. */

/** A text with a secret in it, and the secret: what must not be left of the text. */
export interface Planted {
  readonly text: string;
  readonly secret: string;
}

const [LOWER, DIGITS] = ['abcdefghijklmnopqrstuvwxyz', '0123456789'];
const UPPER = LOWER.toUpperCase();
const ALNUM = LOWER + UPPER + DIGITS;
/** The alphabets of the fixture: `{a36}` stands for 36 characters of `a`. */
const ALPHABETS: Readonly<Record<string, string>> = {
  l: LOWER,
  d: DIGITS,
  u: UPPER + DIGITS,
  a: ALNUM,
  h: `${DIGITS}abcdef`,
  b: `${UPPER}234567`,
  e: `${ALNUM}+/`,
  s: `${ALNUM}-_`,
  v: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
};

function filled(form: string): fc.Arbitrary<string> {
  const parts = form.split(/(\{[a-z]\d+\})/).map((part) => {
    const [, alphabet = '', count] = /^\{([a-z])(\d+)\}$/.exec(part) ?? [];
    if (count === undefined) return fc.constant(part);
    const length = Number(count);
    const sign = fc.constantFrom(...(ALPHABETS[alphabet] ?? ''));
    return fc.array(sign, { minLength: length, maxLength: length }).map((signs) => signs.join(''));
  });
  return fc.tuple(...parts).map((texts) => texts.join(''));
}

/** Line breaks, escapes and unseen signs of the fixture: `\n`, `\\n` for the two characters, `\u001b`. */
function unescaped(line: string): string {
  return line.replace(/\\\\([nt])|\\n|\\u([0-9a-f]{4})/g, (_, letter, code) =>
    letter === undefined
      ? code === undefined
        ? '\n'
        : String.fromCharCode(Number.parseInt(code, 16))
      : `\\${letter}`,
  );
}

/** Every form, with the secret between the marks. */
export const FORMS: readonly (readonly [form: string, planted: fc.Arbitrary<Planted>])[] = readFileSync(
  new URL('../fixtures/secret-forms.txt', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [, form = ''] = line.split('\t');
    const planted = filled(unescaped(form)).map((text) => ({
      text: text.replace(/[«»]/g, ''),
      secret: /«([\s\S]*)»/.exec(text)?.[1] ?? '',
    }));
    // A line of a key without a capital may be a checksum: chance makes one in a hundred thousand.
    const mayBeSum = (secret: string) => /\n[a-z0-9+/]{64}$|^[a-z0-9+/]{64}\n/m.test(secret);
    return [form, planted.filter(({ secret }) => !mayBeSum(secret))];
  });

/** Any of them. */
export const planted: fc.Arbitrary<Planted> = fc.oneof(...FORMS.map(([, arbitrary]) => arbitrary));

/** One of each, always the same: for tests that send something somewhere. */
export function oneOfEach(): Planted[] {
  return FORMS.flatMap(([, form], index) => fc.sample(form, { numRuns: 1, seed: 7 + index }));
}

/** Whether so much of a secret is left that it could be used, or guessed. */
export function leaks(text: string, secret: string): boolean {
  const piece = 12;
  const [seen, wanted] = [text, secret].map((part) => part.replace(/\u200b/g, ''));
  if (seen === undefined || wanted === undefined || wanted.length <= piece) return text.includes(secret);
  for (let at = 0; at + piece <= wanted.length; at += 1) {
    if (seen.includes(wanted.slice(at, at + piece))) return true;
  }
  return false;
}
