import { createTwoFilesPatch } from 'diff';
import picocolors from 'picocolors';

/** What changes in a file, as `diff -u` shows it; `undefined` for a file that is not there. */
export function diffLines(
  name: string,
  before: string | undefined,
  after: string | undefined,
  inColour: boolean,
): string {
  const { red, green, cyan, bold } = picocolors.createColors(inColour);
  const none = '/dev/null';
  const patch = createTwoFilesPatch(
    before === undefined ? none : name,
    after === undefined ? none : name,
    before ?? '',
    after ?? '',
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
