import { RESULT_KEY_LENGTH } from '../contracts/accepted-result.js';

/**
 * Which results have counted, by their keys, so that one that is published again under another sequence does not count
 * again. The newest are remembered, in the order in which they counted; one that is older than all of these counts again.
 */
export const REMEMBERED_RESULTS = 2000;

/** Takes in a result, and says whether it counts: whether it is not remembered. */
export function countResult(counted: Set<string>, key: string): boolean {
  if (counted.has(key)) return false;
  counted.add(key);
  const oldest = counted.values().next();
  if (counted.size > REMEMBERED_RESULTS && !oldest.done) counted.delete(oldest.value);
  return true;
}

/** All keys as one text, the oldest first. */
export function resultsToJson(counted: ReadonlySet<string>): string {
  return [...counted].join('');
}

export function resultsFromJson(text: string): Set<string> {
  const counted = new Set<string>();
  for (let at = 0; at < text.length; at += RESULT_KEY_LENGTH) {
    counted.add(text.slice(at, at + RESULT_KEY_LENGTH));
  }
  return counted;
}
