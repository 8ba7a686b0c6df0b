/** How much a run of the tests takes: test/tiers.ts says what is in each, and `scripts/test` sets it. */
export type Tier = 'default' | 'all';

export const TIER: Tier = process.env.THROUGHLINE_TEST_TIER === 'default' ? 'default' : 'all';

const SHARE = 5;

/** Returns how many of some repetitions this tier makes: all of them, or a fifth and at least one. */
export function runs(count: number): number {
  return TIER === 'all' ? count : Math.ceil(count / SHARE);
}
