/** Chance that comes from a seed: the same seed gives the same run, every time. */
export interface Chance {
  /** 0 to 1, 1 excluded. */
  fraction(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True in this share of the cases. */
  happens(share: number): boolean;
  pick<const T>(items: readonly [T, ...T[]]): T;
}

/** mulberry32: 32 bits of state, which is plenty for choosing faults. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1));
  return {
    fraction,
    between,
    happens: (share) => fraction() < share,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
  };
}
