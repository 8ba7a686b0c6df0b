const ROUNDABOUT = /\/\.{0,2}\//;

/** Not just a path: text with spaces, a URL, or a share on another machine. */
const NOT_A_PATH = /^\/\/|\s|:\/\//u;

/**
 * Normalizes `.`, `..` and empty segments inside a path: `/tmp/x/../y.ts` becomes `/tmp/y.ts`. Leaves other texts
 * unchanged, including `./a.ts`, `a/..`, text that may be more than a path, and paths that would become empty.
 */
export function plainPath(path: string): string {
  if (!ROUNDABOUT.test(path) || NOT_A_PATH.test(path)) return path;
  const root = path.startsWith('/') ? '/' : '';
  const steps: string[] = [];
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue;
    const leadsOut = steps.length === 0 || steps.at(-1) === '..';
    if (step !== '..') steps.push(step);
    else if (!leadsOut) steps.pop();
    else if (root === '') steps.push(step);
  }
  const plain = root + steps.join('/');
  return plain === '' ? path : plain;
}
