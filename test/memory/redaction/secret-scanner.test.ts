import { describe, expect, it } from 'vitest';
import { redactJson, redactText, secretScanner as scanner } from '../../../src/memory/redaction/redactor.js';
import { TOKENS } from '../../../src/memory/redaction/secret-rules.js';
import { hostileTexts } from '../../support/builders.js';
import { cpuMs } from '../../support/cpu-time.js';
import * as fc from '../../support/properties.js';
import { FORMS, leaks, planted } from '../../support/secrets.js';

const around = fc.oneof(
  fc.constantFrom('', ' ', '\n', '"', "'", '(', 'see: ', '\t', '= ', '. ', '、'),
  hostileTexts.map((text) => `${text} `),
);
const after = fc.oneof(
  fc.constantFrom('', ' ', '\n', '"', ')', ', then', '。'),
  hostileTexts.map((text) => ` ${text}`),
);

describe('the scanner', () => {
  it.each(FORMS)('the scanner takes out the secret of %s', (_, form) => {
    fc.assert(
      fc.property(form, ({ text, secret }) => {
        expect(leaks(redactText(`see ${text}\nthere`, scanner).value, secret)).toBe(false);
      }),
      { numRuns: 20 },
    );
  });

  it.each(TOKENS)(
    'the scanner finds tokens of %s, which begin with %s, as a whole',
    (rule, prefix, body, least) => {
      fc.assert(
        fc.property(fc.stringMatching(new RegExp(`^${prefix}${body}{${least}}$`)), (token) => {
          // One word of letters may be a name.
          fc.pre(rule !== 'api-key' || /\d/.test(token));
          const { value, found } = redactText(
            `see 7${token.replace(/^\d/, 'x')} ${token} there`.slice(4),
            scanner,
          );
          expect(value).toContain(`<redacted:${Object.keys(found).at(-1)}> there`);
          expect(Object.keys(found).join()).toContain(rule);
        }),
        { numRuns: 20 },
      );
    },
  );

  it('the scanner misses no secret in JSON, in whatever way its characters are written', () => {
    const written = fc.record({ escaping: fc.option(fc.nat(), { freq: 1 }), slashes: fc.boolean() });
    const breaks = fc.oneof(fc.constantFrom('\n', '\t', '\r\n', '"', '\\', '\b', '\f'), around);
    fc.assert(
      fc.property(breaks, planted, after, written, (before, { text }, behind, { escaping, slashes }) => {
        const head = '{"summary":"';
        const body = JSON.stringify({ summary: before + text + behind });
        // A character that stands for itself, anywhere in the body's text, written by its number.
        const places = [...body.matchAll(/(?<!\\u?[0-9a-f]{0,3})[A-Za-z0-9_.:@-]/g)]
          .map(({ index }) => index)
          .filter((index) => index >= head.length);
        const place = escaping === null ? undefined : places[escaping % places.length];
        const number = body
          .charCodeAt(place ?? 0)
          .toString(16)
          .padStart(4, '0');
        const escaped =
          place === undefined ? body : `${body.slice(0, place)}\\u${number}${body.slice(place + 1)}`;
        const source = slashes ? escaped.replaceAll('/', '\\/') : escaped;
        const walked = redactJson(JSON.parse(source), scanner);
        expect(redactJson(JSON.parse(source), scanner, { source })).toEqual(walked);
        if (['', '\n', '\t', '"'].includes(before) && /^(?![^\n"])/.test(behind))
          expect(walked.found).not.toEqual({});
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    'completed the task; see https://example.com/a?b=c@d and mail me at a@b.io',
    'task-12 disk-1 sk-learn risk-averse-management-of-things',
    `const key = "value"; TOKEN=$TOKEN PASSWORD=\${PASSWORD} API_KEY=<key>`,
    `postgres://user:password@localhost/db and redis://:\${REDIS_PASSWORD}@cache`,
    'the file begins with -----BEGIN PRIVATE KEY----- and ends with an END line',
    'git@github.com:o/r.git, npm_config_cache, hf_hub, gh_pages, ops_team',
    'a digest: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'http://127.0.0.1:4222 nats://h1:4222,nats://h2:4222',
    'account_id = 123456789012',
    'All tests pass: reverted the last change',
  ])('the scanner leaves alone: %s', (text) => {
    expect(redactText(text, scanner)).toEqual({ value: text, found: {} });
  });

  it.each(['npm_', 'KEY=a1234567', '://@', '.eyJ'])(
    'a body of 1 MB in short texts that each hold the hint %s is redacted within two seconds',
    (text) => {
      const texts = Array.from({ length: 1_000_000 / (text.length + 3) }, () => text);
      expect(cpuMs(() => redactJson({ files_modified: texts }, scanner))).toBeLessThan(2000);
    },
  );

  it('the scanner takes no longer for hostile texts', () => {
    const size = 256 * 1024;
    const pieces = [
      `SG.${'a'.repeat(128)}.${'b'.repeat(400)} `,
      'http://',
      '://a:b@',
      'KEY=KEY=',
      'figd_',
      'eyJaaaaaaaaa.',
      '-----BEGIN PRIVATE KEY-----',
      `-----BEGIN PRIVATE KEY-----${' '.repeat(5000)}`,
      `Bearer ${'a'.repeat(5000)}`,
      `secretaccesskey${' '.repeat(70)}`,
      '_',
      `xoxb-${'a-'.repeat(500)}`,
    ];
    for (const piece of pieces) {
      const text = piece.repeat(Math.ceil(size / piece.length));
      const took = cpuMs(() => redactText(text, scanner));
      expect(took, piece.slice(0, 20)).toBeLessThan(2000);
    }
  });
});
