import * as fc from 'fast-check';
import { runs, TIER } from './tier.js';

/**
 * Everything of fast-check, with the runs of a property that the tier asks for. The tier `all` takes as many as the test
 * says, from a new seed each time; `default` a fifth of them, from one seed, so that two runs test the same.
 */
export * from 'fast-check';

const SEED = 20_260_801;
/** Runs of a property that says nothing, as in fast-check. */
const USUAL_RUNS = 100;

/** As `assert` of fast-check: with the runs and the seed of the tier. Examples of the test are all taken. */
export function assert<Ts>(property: fc.IAsyncProperty<Ts>, params?: fc.Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: fc.IProperty<Ts>, params?: fc.Parameters<Ts>): void;
export function assert<Ts>(property: fc.IRawProperty<Ts>, params: fc.Parameters<Ts> = {}) {
  if (TIER === 'all') return fc.assert(property, params);
  const { numRuns = USUAL_RUNS, examples = [] } = params;
  const random = Math.max(0, numRuns - examples.length);
  return fc.assert(property, { seed: SEED, ...params, numRuns: examples.length + runs(random) });
}
