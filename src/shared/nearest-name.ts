import { named } from './text.js';

/** Limit in characters, since input may be of any length. */
const MAX_NAME = 64;

/**
 * Returns the name that `given` probably means: equal except for case, `_` and `-`, else the one with the smallest edit
 * distance, at most one letter in three.
 */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  if (given.length > MAX_NAME) return undefined;
  const wanted = plain(given);
  let nearest: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    if (name.length > MAX_NAME) continue;
    const distance = distanceOf(wanted, plain(name));
    if (
      distance <= Math.min(wanted.length, plain(name).length) / 3 &&
      distance < (nearest?.distance ?? Infinity)
    )
      nearest = { name, distance };
  }
  return nearest?.name;
}

/** True if one letter of a name is missing, added or another one, or two are swapped. */
export function isSlipOf(given: string, name: string): boolean {
  const more = given.length - name.length;
  if (given === name || Math.abs(more) > 1) return false;
  let at = 0;
  while (given[at] === name[at]) at += 1;
  if (more !== 0) return given.slice(at + Math.max(0, more)) === name.slice(at + Math.max(0, -more));
  const isSwapped = given[at] === name[at + 1] && given[at + 1] === name[at];
  return given.slice(at + (isSwapped ? 2 : 1)) === name.slice(at + (isSwapped ? 2 : 1));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** Damerau-Levenshtein distance. */
function distanceOf(from: string, to: string): number {
  let twoBefore: number[] = [];
  let before = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(before, column) + 1,
        at(current, column - 1) + 1,
        at(before, column - 1) + (same ? 0 : 1),
        swapped ? at(twoBefore, column - 2) + 1 : Infinity,
      );
    }
    twoBefore = before;
    before = current;
  }
  return at(before, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}

const MOST = 5;

/**
 * Returns up to five ids that an unknown one probably means, best first: other spellings (`T009` for `9`), subtasks,
 * parents, and the most similar one.
 */
export function nearIds(given: string, ids: Iterable<string>): string[] {
  const wanted = spelling(given);
  const all = [...new Set(ids)];
  const numbers = numbersOf(given);
  const near = nearestName(given, all);
  const groups = [
    all.filter((id) => spelling(id) === wanted),
    all.filter((id) => numbers !== '' && numbersOf(id) === numbers),
    all.filter((id) => wanted !== '' && spelling(id).startsWith(wanted)),
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

function spelling(id: string): string {
  return id.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the numbers of an id without leading zeros: `2.1` for `T-02.1`. */
function numbersOf(id: string): string {
  return (id.match(/\d+/g) ?? []).map((digits) => digits.replace(/^0+(?=\d)/, '')).join('.');
}
