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
