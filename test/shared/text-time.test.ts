import { describe, expect, it } from 'vitest';
import { parseTasksMd } from '../../src/ledger/tasks-md/parse-tasks-md.js';
import { redactText, secretScanner } from '../../src/memory/redaction/redactor.js';
import { renderTemplate, unknownPlaceholders } from '../../src/prompt/iteration-template.js';
import { oneLine, quoted, quotedLines } from '../../src/shared/text.js';
import { growth } from '../support/cpu-time.js';
import { TIER } from '../support/tier.js';

/**
 * Time in proportion to the text, for what reads texts from outside and cannot be judged by its expressions alone: to
 * double a text doubles the time. A quadratic step would make it four times as long, a cubic one eight.
 */
const scanner = secretScanner;
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  quoted,
  quotedLines: (text: string) => quotedLines(text, Number.POSITIVE_INFINITY),
  oneLine,
  parseTasksMd,
  unknownPlaceholders: (text) => unknownPlaceholders(text, ['a']),
  renderTemplate: (text) => renderTemplate(text, { a: 'b' }),
  redactText: (text) => redactText(text, scanner),
};

/** Before a text that is repeated, and the text. */
const TEXTS: readonly (readonly [opening: string, unit: string])[] = [
  ['<|', ' '],
  ['<', ' '],
  ['[', ' '],
  ['[task', ' '],
  ['', '[task:'],
  ['', '<|'],
  ['\u001b', ';?'],
  ['\u009b', ';#'],
  ['', '\u001b]'],
  ['- [ ] a [ ]', '\u2028'],
  ['- [ ] a ', ' _File: b'],
  ['- [ ] a (depends on', ' '],
  ['- [ ] a ', '(可选)'],
  ['- [ ] a\n  - File: b', ' and'],
  ['# ', '\u2028'],
  ['- [ ] a\n', '  _File(s): a\n'],
  ['- [ ] a\n', '  - _Prompt: a\n'],
  ['', '- [ ] 1. a\n'],
  ['', '> '],
  ['', '<!-- '],
  ['<div>\n', '<!-- -->'],
  ['', '| a |\n'],
  ['', '{{ b }}\n'],
  ['', '{{'],
  ['-----BEGIN PRIVATE KEY-----', ' '],
  ['', '-----BEGIN PRIVATE KEY-----'],
  ['', 'TKEY=T'],
  ['', '://a:b'],
];

/** All texts for each reader; in the default tier a fifth of them for each, and each text for some. */
const textsFor = (reader: number) =>
  TIER === 'all' ? TEXTS : TEXTS.filter((_text, index) => (index + reader) % 5 === 0);

describe.each(Object.entries(READERS).map(([name, read], reader) => [name, read, textsFor(reader)] as const))(
  'the time of %s',
  (_name, read, texts) => {
    it.each(texts)(
      'the time to clean a text grows with the text and no faster: %j, and then %j over and over',
      (opening, unit) => {
        const text = (length: number) => opening + unit.repeat(Math.ceil(length / unit.length));
        expect(growth((length) => read(text(length)))).toBeLessThan(2.8);
      },
    );
  },
);
