import { oneLine } from '../shared/text.js';

/** One spelling of each path of a project. */
export function knownAs(path: string): string {
  return oneLine(path).replace(/^\.\//, '');
}
