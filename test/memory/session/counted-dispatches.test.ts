import { describe, expect, it } from 'vitest';
import {
  CountedDispatches,
  type CountedJson,
  MAX_COUNTED,
} from '../../../src/memory/session/dispatch-window.js';
import * as fc from '../../support/properties.js';

const SMALL = 12;

/** What should count, spelled out: every sequence ever seen is kept. */
class Model {
  readonly known = new Set<number>();
  count(sequence: number): boolean {
    const isNew = !this.known.has(sequence);
    this.known.add(sequence);
    return isNew;
  }
}

function again(counted: CountedDispatches, most: number): CountedDispatches {
  const json: CountedJson = JSON.parse(JSON.stringify(counted));
  return new CountedDispatches(json, most);
}

describe('what has counted', () => {
  it('the record of counted dispatches is exact above the floor, in any order and with any steps between', () => {
    const sequences = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 2 ** 45 })),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(sequences, (given) => {
        const [model, counted] = [new Model(), new CountedDispatches()];
        for (const sequence of given) expect(counted.count(sequence)).toBe(model.count(sequence));
        expect(given.every((sequence) => counted.has(sequence))).toBe(true);
        expect(counted.newest()).toBe(Math.max(0, ...given));
        expect(JSON.stringify(again(counted, MAX_COUNTED))).toBe(JSON.stringify(counted));
      }),
    );
  });

  it('the record of counted dispatches forgets the lowest, the same ones whatever is written and read back in between', () => {
    const step = fc.tuple(fc.integer({ min: 1, max: 300 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        let [kept, restored] = [
          new CountedDispatches(undefined, SMALL),
          new CountedDispatches(undefined, SMALL),
        ];
        for (const [sequence, write] of steps) {
          expect(restored.count(sequence)).toBe(kept.count(sequence));
          if (write) restored = again(restored, SMALL);
          expect(JSON.stringify(restored)).toBe(JSON.stringify(kept));
          expect(kept.size).toBeLessThanOrEqual(SMALL);
        }
      }),
    );
  });

  it.each([1, 90, 5000, 3_000_000])(
    'the record of counted dispatches takes at most 128 KB, and remembers 23,040, one dispatch in %i being its own',
    (every) => {
      const counted = new CountedDispatches();
      const total = 110_000;
      for (let index = 1; index <= total; index += 1) counted.count(index * every);
      expect(counted.floor).toBe((total - MAX_COUNTED) * every);
      expect(JSON.stringify(counted).length).toBeLessThanOrEqual(128 * 1024);
    },
  );
});

describe('a dispatch at or below the floor', () => {
  const full = (removed: number) => {
    const counted = new CountedDispatches({ floor: 0, steps: '', removed }, SMALL);
    for (let sequence = 10; sequence <= 400; sequence += 10) counted.count(sequence);
    expect(counted.floor).toBe(280);
    return counted;
  };

  it('a dispatch at or below the floor counts: its log has each dispatch once', () => {
    const counted = full(0);
    expect(counted.count(15)).toBe(true);
    expect(counted.has(15)).toBe(false);
  });

  it('a dispatch that may have been removed by a checkpoint does not count', () => {
    const counted = full(100);
    expect([counted.count(15), counted.count(100), counted.count(105)]).toEqual([false, false, true]);
  });
});
