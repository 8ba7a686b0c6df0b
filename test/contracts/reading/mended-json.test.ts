import { describe, expect, it } from 'vitest';
import { MENDED, mendedJson, parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import { cpuMs } from '../../support/cpu-time.js';

/** What the library repeats work for, each after several beginnings. */
const UNITS = [
  ...['"', "'", '“', '`', '""', '"a"', 'a"', '"x" x', '"x: ', '"\n', 'a\n', '/a', '"a/', '"a"+'],
  ...['1 ', 'a ', 'true ', '[', '{', '(', '{"a":', '"a":"b"c"', '{"a":1,}', '\\', '"a\\\n'],
  ...['"a\\\\\n', '```', '/*', '//', ' ', '\n', 'x', '"a",', '[1] '],
];
const LARGEST = 256 * 1024;
const BEGINNINGS = ['{', '{"a":', '{"a":[', '{"a":"b",', '{"a":{"b":"', '[{'];

const filled = (begins: string, unit: string, room: number) =>
  // A body that does not end in a bracket is refused before it is mended.
  `${begins}${unit.repeat(Math.floor((room - begins.length - 1) / unit.length))}}`;

describe('JSON that does not parse', () => {
  it.each([
    ['long', `{"a":"${'x'.repeat(MENDED.characters)}",}`],
    ['full of signs', `{${'"a",'.repeat(MENDED.signs)}}`],
  ])('JSON that does not parse is left alone where it is %s', (_what, text) => {
    expect(mendedJson(text)).toBeUndefined();
    expect(parseDispatchBody(Buffer.from(text), 'implementer', 1024 * 1024)).toMatchObject({
      code: 'json_parse_failed',
    });
  });

  it.each(BEGINNINGS)('JSON that does not parse never takes a tenth of a second, after %s', (begins) => {
    const slow: Record<string, number> = {};
    for (const unit of UNITS) {
      // As long as it may be, as long as its signs let it be, and as large as a body.
      for (const room of [MENDED.characters, MENDED.signs, 2 * MENDED.signs, LARGEST]) {
        const body = Buffer.from(filled(begins, unit, room));
        const take = () => cpuMs(() => parseDispatchBody(body, 'implementer', LARGEST));
        // Once more where it was slow: the engine may have been compiling.
        const ms = take();
        if (ms > 100 && take() > 100 && take() > 100) slow[`${unit} ${room}`] = ms;
      }
    }
    expect(slow).toEqual({});
  });
});
