import { describe, expect, it } from 'vitest';
import { Semaphore } from '../../../src/engine/runtime/pacing.js';
import * as fc from '../../support/properties.js';

describe('Semaphore', () => {
  it('a semaphore runs all work, in its order, never more at a time than allowed, whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.record({ steps: fc.nat(3), fails: fc.boolean() }), { maxLength: 30 }),
        async (most, works) => {
          const turns = new Semaphore(most);
          const begun: number[] = [];
          let running = 0;
          let highest = 0;
          const outcomes = await Promise.allSettled(
            works.map(({ steps, fails }, index) =>
              turns.run(async () => {
                begun.push(index);
                running += 1;
                highest = Math.max(highest, running);
                for (let step = 0; step < steps; step += 1) await Promise.resolve();
                running -= 1;
                if (fails) throw new Error(String(index));
                return index;
              }),
            ),
          );
          expect(begun).toEqual(works.map((_, index) => index));
          expect(highest).toBeLessThanOrEqual(most);
          expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(
            works.map(({ fails }) => fails),
          );
        },
      ),
    );
  });
});
