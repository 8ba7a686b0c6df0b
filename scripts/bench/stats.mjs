// Figures from many runs. Pure.

/** The value at `q` (0 to 1) of values in any order. */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
}

export function median(values) {
  return quantile(values, 0.5);
}
