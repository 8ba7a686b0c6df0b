import { describe, expect, it } from 'vitest';
import { type DiffSide, diffCounts, diffRows, foldedRows } from '../../src/page/prompt/diff-table.js';
import * as fc from '../support/properties.js';

const said = (side: DiffSide | undefined) => side?.pieces.map(({ text }) => text).join('');
const texts = fc.array(fc.constantFrom('', 'a', 'a b c', 'a b d', 'z', 'a b c d e f'), { maxLength: 12 });

describe('the rows of two texts', () => {
  it('the rows of two texts hold every line of both, in order and with its number', () => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const rows = diffRows(one.join('\n'), other.join('\n'));
        const lines = (side: 'left' | 'right') => rows.flatMap((row) => (row[side] ? [row[side]] : []));
        for (const [side, text] of [
          ['left', one],
          ['right', other],
        ] as const) {
          expect(lines(side).map(said)).toEqual(text.join('\n').split('\n'));
          expect(lines(side).map(({ number }) => number)).toEqual(lines(side).map((_, index) => index + 1));
        }
        for (const { kind, left, right } of rows) {
          if (kind === 'same') expect(said(left)).toBe(said(right));
          if (kind === 'changed') expect(said(left)).not.toBe(said(right));
        }
      }),
    );
  });

  it('a changed line says which of its words are others', () => {
    const rows = diffRows('one\ncheck the bounds now\nend', 'one\ncheck the length now\nend');
    expect(rows.map(({ kind }) => kind)).toEqual(['same', 'changed', 'same']);
    const marked = (side: DiffSide | undefined) =>
      side?.pieces.filter(({ changed }) => changed).map(({ text }) => text);
    expect(marked(rows[1]?.left)).toEqual(['bounds']);
    expect(marked(rows[1]?.right)).toEqual(['length']);
    expect(diffCounts(rows)).toEqual({ removed: 1, added: 1 });
  });

  it('lines with nothing in common are not taken for one changed line', () => {
    const rows = diffRows('alpha beta gamma', 'x');
    expect(rows.map(({ kind }) => kind)).toEqual(['removed', 'added']);
  });

  it('equal lines far from a change are folded, and no line is lost by it', () => {
    const same = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const rows = diffRows([...same, 'old', ...same].join('\n'), [...same, 'new words', ...same].join('\n'));
    const stretches = foldedRows(rows);
    expect(stretches.map(({ folded }) => folded)).toEqual([true, false, false, false, true]);
    expect(stretches.map((stretch) => stretch.rows.length)).toEqual([27, 3, 2, 3, 27]);
    expect(stretches.flatMap((stretch) => stretch.rows)).toEqual(rows);
  });
});
