import { posix } from 'node:path';

const ROUNDABOUT = /\/\.{0,2}\//;
const URL = /^[a-z][a-z\d+.-]*:\/\//i;

/** A path without steps that lead nowhere: `/tmp/x/../y.ts` becomes `/tmp/y.ts`. Where it is short already, it stays. */
export function plainPath(path: string): string {
  return ROUNDABOUT.test(path) && !URL.test(path) ? posix.normalize(path) : path;
}
