import { describe, expect, it } from 'vitest';
import { parseTasksMd, repair } from '../../../src/ledger/tasks-md/parse-tasks-md.js';
import { fixture, parseFixture } from './support.js';

/** UTF-8 read as Latin-1, which leaves the bytes 80 to 9F as control characters. */
const misread = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

describe('repair', () => {
  it.each(['emoji-lists', 'chinese', 'japanese', 'table'])(
    'repair reads %s mis-decoded as it reads the original',
    (name) => {
      const { tasks, problems } = parseTasksMd(misread(fixture(name)));
      expect(tasks).toEqual(parseFixture(name).tasks);
      expect(problems.filter(({ code }) => code === 'misdecoded_text')).toHaveLength(1);
    },
  );

  it('repair puts MacRoman right, and names the first line', () => {
    expect(repair('# a\n- ‚úÖ 1. b ‚Äî c\n')).toEqual({
      text: '# a\n- ✅ 1. b — c\n',
      misdecoded: { line: 1, message: 'UTF-8 that was read as MacRoman; 2 characters were corrected' },
    });
  });

  it.each([
    ['a single chance sequence', 'le café…» est bon'],
    ['other accents around it', 'été, où, café…» naïve, voilà…» Noël'],
    ['a true dash and a check mark', '- ✅ 1. a — b'],
  ])('repair leaves %s alone', (_, text) => {
    expect(repair(text)).toEqual({ text });
  });

  it('repair takes the byte order mark away, also a mis-decoded one', () => {
    for (const mark of ['\uFEFF', 'ï»¿', 'Ôªø']) expect(repair(`${mark}# a`)).toEqual({ text: '# a' });
  });

  it('repair reports characters that are lost', () => {
    expect(repair('a\nb \uFFFD').misdecoded?.line).toBe(1);
  });
});
