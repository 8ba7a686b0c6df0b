/** The largest number that fits, looked for around a guess; none where not even the least does. */
export function largestFitting(
  fits: (count: number) => boolean,
  { least, most, guess }: { readonly least: number; readonly most: number; readonly guess: number },
): number | undefined {
  let low = Math.min(most, Math.max(least, guess));
  let high = low;
  for (let step = 1; !fits(low); step *= 2) {
    if (low === least) return undefined;
    high = low;
    low = Math.max(least, low - step);
  }
  for (let step = 1; high <= low; step *= 2) {
    if (low === most) return most;
    high = Math.min(most, low + step);
    if (!fits(high)) break;
    low = high;
  }
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}
