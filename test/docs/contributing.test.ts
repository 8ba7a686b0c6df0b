import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ROOT } from '../../scripts/docs/pages.js';

function added(page: string): { readonly path: string; readonly line: string }[] {
  const diffs = [...page.matchAll(/^```diff\n([\s\S]*?)^```$/gm)].map(([, diff = '']) => diff.trimEnd());
  return diffs.flatMap((diff) => {
    let path = '';
    return diff.split('\n').flatMap((line) => {
      if (line.startsWith('+++ b/')) path = line.slice('+++ b/'.length);
      else if (line.startsWith('+')) return [{ path, line: line.slice(1) }];
      return [];
    });
  });
}

it('each line that the diffs of the page for contributors add still stands in its file', () => {
  const lines = added(readFileSync(`${ROOT}docs/contributing/README.md`, 'utf8'));
  expect(lines.length).toBeGreaterThan(10);
  const gone = lines.filter(
    ({ path, line }) =>
      !readFileSync(ROOT + path, 'utf8')
        .split('\n')
        .includes(line),
  );
  expect(gone).toEqual([]);
});
