import { withoutEnd } from '../../shared/text.js';

const MAX_READ = 2000;

/**
 * Returns the ids that a text may name, in lower case: words with a digit, and whole numbers only as in `task 2` or `#2`. A
 * dot at the end of a word is punctuation.
 */
export function mentionsIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { groups } of text.slice(0, MAX_READ).toLowerCase().matchAll(MENTION)) {
    const id = withoutEnd(groups?.id ?? '');
    if (!/^\d+$/.test(id) || groups?.task !== undefined) found.add(id);
  }
  return found;
}

const MENTION =
  /(?:(?<task>\btask(?!\p{L})[ :#-]{0,3}|#)|(?<![\p{L}\p{N}_.-]))(?<id>(?=[\p{L}_.-]{0,40}\p{N})[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63})/gu;
