import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WeightedLru } from '../../src/workers/weighted-lru.js';

/** What an LRU of these entries, the least recently used first, may keep. */
function kept(entries: readonly (readonly [string, number])[], most: { entries: number; weight: number }) {
  const left = [...entries];
  const weight = () => left.reduce((sum, [, each]) => sum + each, 0);
  while (left.length > 1 && (left.length > most.entries || weight() > most.weight)) left.shift();
  return left;
}

describe('WeightedLru', () => {
  it('keeps what was used last, within both bounds, and always the last one', () => {
    const use = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), weight: fc.nat(60) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 100 }),
        fc.array(use),
        (entries, weight, uses) => {
          const lru = new WeightedLru<string, { key: string }>({ entries, weight });
          let model: (readonly [string, number])[] = [];
          for (const { key, weight: heavy } of uses) {
            let value = lru.get(key);
            const before = model.find(([each]) => each === key);
            expect(value !== undefined).toBe(before !== undefined);
            model = [...model.filter(([each]) => each !== key), before ?? [key, 0]];
            if (value === undefined) {
              value = { key };
              lru.set(key, value);
              model = kept(model, { entries, weight });
            }
            lru.weigh(key, value, heavy);
            model = kept([...model.slice(0, -1), [key, heavy]], { entries, weight });
            expect(lru.size).toBe(model.length);
            expect(lru.weight).toBe(model.reduce((sum, [, each]) => sum + each, 0));
          }
        },
      ),
    );
  });

  it('takes no weight for a value that is no longer held', () => {
    const lru = new WeightedLru<string, object>({ entries: 9, weight: 100 });
    const [old, young] = [{}, {}];
    lru.set('a', old);
    lru.set('a', young);
    lru.weigh('a', old, 50);
    lru.weigh('b', old, 50);
    expect([lru.weight, lru.size]).toEqual([0, 1]);
    lru.weigh('a', young, 70);
    lru.delete('a');
    lru.delete('a');
    expect([lru.weight, lru.size]).toEqual([0, 0]);
  });
});
