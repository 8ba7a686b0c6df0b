import { describe, expect, it } from 'vitest';
import { type DiffLine, diffLines, foldedLines } from '../../src/page/prompt/diff-table.js';
import * as fc from '../support/properties.js';

const said = ({ pieces }: DiffLine) => pieces.map(({ text }) => text).join('');
const marked = ({ pieces }: DiffLine) => pieces.filter(({ changed }) => changed).map(({ text }) => text);
const texts = fc.array(fc.constantFrom('', 'a', 'a b c', 'a b d', 'z', 'a b c d e f'), { maxLength: 12 });

describe('the lines of a diff', () => {
  it('hold every line of both texts, in order and with its number', () => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const lines = diffLines(one.join('\n'), other.join('\n'));
        for (const [kind, text] of [
          ['removed', one],
          ['added', other],
        ] as const) {
          const own = lines.filter((line) => line.kind === 'same' || line.kind === kind);
          expect(own.map(said)).toEqual(text.join('\n').split('\n'));
          own.forEach((line, index) => {
            if (line.kind === kind) expect(line.number).toBe(index + 1);
          });
        }
      }),
    );
  });

  it('mark the words of a changed line that differ', () => {
    const lines = diffLines('one\ncheck the bounds now\nend', 'one\ncheck the length now\nend');
    expect(lines.map(({ kind }) => kind)).toEqual(['same', 'removed', 'added', 'same']);
    expect(lines.map(marked)).toEqual([[], ['bounds'], ['length'], []]);
  });

  it('mark no words if two lines have nothing in common', () => {
    expect(diffLines('alpha beta gamma', 'x').flatMap(marked)).toEqual([]);
  });

  it('are folded far from a change, and none is lost', () => {
    const same = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const lines = diffLines([...same, 'old', ...same].join('\n'), [...same, 'new words', ...same].join('\n'));
    const stretches = foldedLines(lines);
    expect(stretches.map(({ folded }) => folded)).toEqual([true, false, false, false, true]);
    expect(stretches.map((stretch) => stretch.lines.length)).toEqual([27, 3, 2, 3, 27]);
    expect(stretches.flatMap((stretch) => stretch.lines)).toEqual(lines);
  });
});
