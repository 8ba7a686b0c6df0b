import { nearestName } from './nearest-name.js';
import { named } from './text.js';

const MOST = 5;

/**
 * Returns up to five ids that an unknown one probably means, best first: other spellings (`T009` for `9`), subtasks,
 * parents, and the most similar one.
 */
export function nearIds(given: string, ids: Iterable<string>): string[] {
  const wanted = plain(given);
  const all = [...new Set(ids)];
  const numbers = numbersOf(given);
  const near = nearestName(given, all);
  const groups = [
    all.filter((id) => plain(id) === wanted),
    all.filter((id) => numbers !== '' && numbersOf(id) === numbers),
    all.filter((id) => wanted !== '' && plain(id).startsWith(wanted)),
    all
      .filter((id) => numbersOf(id) !== '' && numbers.startsWith(`${numbersOf(id)}.`))
      .sort((a, b) => numbersOf(b).length - numbersOf(a).length),
    near === undefined ? [] : [near],
  ];
  return [...new Set(groups.flat())].slice(0, MOST);
}

/** Returns `; did you mean 2.1, 2.2?` for similar ids, else the first known ones; empty without any. */
export function nearIdsHint(given: string, ids: Iterable<string>): string {
  const all = [...new Set(ids)];
  const near = nearIds(given, all);
  if (near.length > 0) return `; did you mean ${near.join(', ')}?`;
  if (all.length === 0) return '';
  return `; known: ${named(all, MOST)}`;
}

function plain(id: string): string {
  return id.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the numbers of an id without leading zeros: `2.1` for `T-02.1`. */
function numbersOf(id: string): string {
  return (id.match(/\d+/g) ?? []).map((digits) => digits.replace(/^0+(?=\d)/, '')).join('.');
}
