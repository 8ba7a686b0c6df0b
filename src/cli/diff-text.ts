import { createTwoFilesPatch } from 'diff';
import picocolors from 'picocolors';

/** One side of a comparison; `text` is undefined for a missing file. */
interface DiffSide {
  readonly name: string;
  readonly text: string | undefined;
}

/** Returns the changes from one text to another in the format of `diff -u`. */
export function diffText(before: DiffSide, after: DiffSide, inColour: boolean): string {
  const { red, green, cyan, bold } = picocolors.createColors(inColour);
  const nameOf = ({ name, text }: DiffSide) => (text === undefined ? '/dev/null' : name);
  const patch = createTwoFilesPatch(
    nameOf(before),
    nameOf(after),
    before.text ?? '',
    after.text ?? '',
    undefined,
    undefined,
    { headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true } },
  );
  return patch
    .split('\n')
    .map((line) => {
      if (/^(---|\+\+\+) /.test(line)) return bold(line);
      if (line.startsWith('@@')) return cyan(line);
      if (line.startsWith('+')) return green(line);
      return line.startsWith('-') ? red(line) : line;
    })
    .join('\n');
}
