const ROUNDABOUT = /\/\.{0,2}\//;
const URL = /^[a-z][a-z\d+.-]*:\/\//i;

/** A path without steps that lead nowhere: `/tmp/x/../y.ts` becomes `/tmp/y.ts`. Where it is short already, it stays. */
export function plainPath(path: string): string {
  if (!ROUNDABOUT.test(path) || URL.test(path)) return path;
  const root = path.startsWith('/') ? '/' : '';
  const steps: string[] = [];
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue;
    const leadsOut = steps.length === 0 || steps.at(-1) === '..';
    if (step !== '..') steps.push(step);
    else if (!leadsOut) steps.pop();
    else if (root === '') steps.push(step);
  }
  return root + steps.join('/');
}
