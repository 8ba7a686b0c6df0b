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
