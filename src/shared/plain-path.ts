const ROUNDABOUT = /\/\.{0,2}\//;

/** What is not a path alone: words beside it, an address, or a share on another machine. */
const NOT_A_PATH = /^\/\/|\s|:\/\//u;

/**
 * A path without steps in its middle that lead nowhere: `/tmp/x/../y.ts` becomes `/tmp/y.ts`. A text stays as it is that has
 * no such step (`./a.ts` and `a/..` as well), that may be more than a path, or of which nothing would be left.
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
